// Ranks that are threads of this process.
#pragma once

#include <cstdint>
#include <functional>

#include <tenon/components/distributed.hpp>

namespace tenon::engine {

/// Runs `body` once for every rank: rank 0 on the calling thread, the others on threads of their own, and waits for all.
/// What the first of them to fail throws comes out; the others are woken by InProcess::abandon and what they throw then
/// is dropped. [trainer]
void run_ranks(InProcess& team, const std::function<void(int64_t rank)>& body);

}  // namespace tenon::engine
