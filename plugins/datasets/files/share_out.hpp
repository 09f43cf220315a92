// Work on many files or items, shared out over the cores while a dataset is opened.
#pragma once

#include <cstddef>
#include <functional>

namespace tenon::datasets {

/// Calls work(0) to work(count − 1), each once, on the calling thread and on helpers that end before this returns: one
/// thread for each core that the process may use, 32 at most, or fewer where the system gives no more. What work(i)
/// throws is thrown on, that of the lowest i where there are several; what lies above it may stay undone.
void share_out(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace tenon::datasets
