// Reading all data of a pipeline once.
#pragma once

#include <engine/data_report.hpp>

namespace tenon::engine {

/// Reads every sample of the request's paths and reports. Three things are looked at:
/// - samples as the dataset gives them: what cannot be read, sizes, numbers by column, hashes for duplicates;
/// - samples behind all transforms but the random ones, as validation would see them: classes, targets. Where the
///   transforms behind a random one do not take samples without it, the look is taken before that one. Labels of which
///   training makes shares of the classes are looked at before that;
/// - images in front of the first transform with parameters "mean" and "std": what to write there.
/// Transforms that learn do so first. What the report says does not depend on the number of threads.
/// \throws PlacedError where data cannot be opened or the stream is wrong; kMemory and kStorage where the machine has no
/// memory or file handles for a sample, which is then none that cannot be read. [trainer]
[[nodiscard]] DataReport check_data(const DataCheckRequest& request);

}  // namespace tenon::engine
