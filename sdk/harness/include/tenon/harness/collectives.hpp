// Distributed backends: their ranks at work, and what their collectives give.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tenon/components/distributed.hpp>

namespace tenon::harness {

/// Calls `work` with the collectives of each rank that this process has: on a thread a rank where the backend has the
/// ability InProcess, else on this one with what join() gives. A rank that throws has the backend abandoned, as by an
/// engine. Rethrows what the first of them threw.
void on_ranks(Distributed& backend, const std::function<void(Collectives& ranks)>& work);

/// Calls every collective on all ranks, with tensors of several types and shapes, and compares what each rank gets with
/// what the interface promises: values, order, memory, the same bytes everywhere. One sentence for each difference.
/// \throws Error as the backend does. A backend that waits for ever here does so in a run; one without InProcess joins
/// here, so that this can be asked once.
[[nodiscard]] std::vector<std::string> collective_faults(Distributed& backend);

/// Abandons a backend with the ability InProcess while all ranks but one wait in a barrier: those that wait, and every
/// later collective, must throw Error (kDistributed) with the reason, the first of two. The backend is over then. One
/// sentence for each difference; none for a backend without the ability.
[[nodiscard]] std::vector<std::string> abandon_faults(Distributed& backend);

}  // namespace tenon::harness
