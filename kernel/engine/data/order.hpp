// Which samples the batches of an epoch hold: a pure function of (seed, node, epoch, batch, rank), so that any batch is
// reached at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tenon::engine {

/// What becomes of an epoch's last batch when it is short.
enum class LastBatch : uint8_t { kKeep, kDrop };

/// Positions [begin, end) of an epoch's order.
struct Slice {
  int64_t begin = 0;
  int64_t end = 0;

  [[nodiscard]] int64_t size() const noexcept { return end - begin; }
  friend bool operator==(const Slice&, const Slice&) = default;
};

/// How an epoch is cut into batches, and a batch into the ranks' contiguous parts. The parts of a batch are exact:
/// together they are the batch, each position once; sizes differ by one at most; a short batch may leave a rank none.
struct BatchPlan {
  int64_t items = 0;  ///< samples of the dataset
  int64_t batch = 1;  ///< samples of one batch over all ranks, at least 1
  LastBatch last = LastBatch::kKeep;
  int64_t rank = 0;
  int64_t world = 1;
  std::optional<int64_t> limit = {};  ///< batches of an epoch at most; the rest of its order is not read

  /// Batches of one epoch, equal on every rank.
  [[nodiscard]] int64_t batches() const noexcept;

  /// The positions of a batch over all ranks, 0 ≤ index < batches().
  [[nodiscard]] Slice whole(int64_t index) const noexcept;

  /// This rank's part of it.
  [[nodiscard]] Slice slice(int64_t index) const noexcept;

  /// The most samples that any rank's part can have.
  [[nodiscard]] int64_t capacity() const noexcept;
};

/// The order of one epoch: position → sample. Shuffled by a keyed Fisher–Yates (Durstenfeld, CACM 1964) over Philox,
/// else the dataset's own order, which takes no memory. Immutable; any thread.
class EpochOrder {
 public:
  /// `node` is the loader's name in the pipeline: another node's presence changes nothing.
  EpochOrder(int64_t items, bool shuffle, uint64_t seed, std::string_view node, int64_t epoch);

  /// The sample at a position, 0 ≤ position < items.
  [[nodiscard]] int64_t operator[](int64_t position) const noexcept {
    return shuffled_.empty() ? position : shuffled_[static_cast<std::size_t>(position)];
  }

 private:
  std::vector<int64_t> shuffled_;
};

}  // namespace tenon::engine
