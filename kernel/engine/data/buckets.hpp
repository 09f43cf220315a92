// Batches of samples of similar length.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tenon::engine {

/// For each length its rank in sorting: the number of bounds that it reaches, or, without bounds, the length itself
/// (all from 2^32 - 1 on alike).
[[nodiscard]] std::vector<uint32_t> length_ranks(std::span<const int64_t> lengths, std::span<const int64_t> bounds);

/// Changes an order so that its batches hold samples of similar rank: it is cut into pools of `pool` batches, and each
/// is sorted by rank; of samples of one rank the order stays. With a key the batches are shuffled. What is left over
/// behind the last whole batch stays where it is, so that no length is dropped more often than another. `ranks` by
/// sample.
void sort_into_buckets(std::vector<int64_t>& order, std::span<const uint32_t> ranks, int64_t batch, int64_t pool,
                       std::optional<uint64_t> key);

}  // namespace tenon::engine
