// Inputs for a component, found from its port rules, and numbers drawn for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <conformance/subject.hpp>
#include <tenon/harness/memory_sample.hpp>
#include <tenon/tensors.hpp>

namespace tenon::conformance {

/// Fields of a sample, or ports of a batch with "N" first.
using Inputs = std::vector<ExampleInput>;

inline constexpr int64_t kBatch = 5;

/// Inputs that may suit, the likeliest first: each free part of the shape rules is tried in several ways, with and
/// without the optional ports. Not all of them need suit. One empty set where the component takes nothing.
[[nodiscard]] std::vector<Inputs> candidates(const Subject& subject, const Json& params);

/// Sample `index`: the same numbers at every call. Every sixth has whole numbers beyond `high`, as unknown labels are.
[[nodiscard]] harness::MemorySample draw_sample(const Inputs& inputs, uint64_t seed, int64_t index);

/// Batch `index` of `batch` rows; the same numbers for a row however batches are cut when `first_row` is its number.
[[nodiscard]] Tensors draw_batch(const Inputs& inputs, uint64_t seed, int64_t index, int64_t batch = kBatch);

/// "logits float32[N, 4], target int64[N]"
[[nodiscard]] std::string to_string(const Inputs& inputs);

}  // namespace tenon::conformance
