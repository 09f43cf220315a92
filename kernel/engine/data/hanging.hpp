// What is told of a sample that does not come back.
#pragma once

#include <chrono>
#include <cstdint>

#include <core/process/breadcrumb.hpp>
#include <engine/data/stream.hpp>

namespace tenon::engine {

/// The error (kData) for sample `sample` of the stream, which a thread has been on for longer than `limit`, the
/// loader's "sample_timeout". `call` is the call that the thread is in, from which come node, component, and the inner
/// sample where that is another one.
[[nodiscard]] DataError hanging_error(const Stream& stream, int64_t sample, const core::Breadcrumb& call,
                                      std::chrono::nanoseconds limit);

}  // namespace tenon::engine
