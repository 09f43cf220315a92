// Which samples the batches of an epoch hold: a pure function of (seed, node, epoch, batch, rank), so that any batch is
// reached at once. Orders by other rules than `shuffle` come from a Sampler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <tenon/random.hpp>

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
  int64_t items = 0;  ///< positions of an epoch's order: Sampler::samples()
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

/// The key of the random numbers of an epoch's order. `node` is the loader's name in the pipeline: another node's
/// presence changes nothing.
[[nodiscard]] uint64_t order_key(uint64_t seed, std::string_view node, int64_t epoch) noexcept;

/// Draws one sample; immutable, any thread.
class Draw {
 public:
  virtual ~Draw() = default;
  Draw() = default;
  Draw(const Draw&) = delete;
  Draw& operator=(const Draw&) = delete;

  /// A dataset index, from random numbers of its own for each position.
  [[nodiscard]] virtual int64_t sample(Rng& random) const noexcept = 0;
};

/// The order of one epoch: position → sample. Immutable; any thread.
class EpochOrder {
 public:
  /// Each item once: shuffled by a keyed Fisher–Yates (Durstenfeld, CACM 1964) over Philox, else the dataset's own
  /// order, which takes no memory.
  EpochOrder(int64_t items, bool shuffle, uint64_t seed, std::string_view node, int64_t epoch);

  /// Each position is drawn by itself, so that samples repeat; takes no memory.
  EpochOrder(int64_t samples, std::shared_ptr<const Draw> draw, uint64_t key);

  /// These samples; `repeats` when some may be there twice.
  EpochOrder(std::vector<int64_t> samples, bool repeats, uint64_t key);

  /// Positions.
  [[nodiscard]] int64_t size() const noexcept { return size_; }

  /// The sample at a position, 0 ≤ position < size().
  [[nodiscard]] int64_t operator[](int64_t position) const noexcept {
    if (draw_ != nullptr) {
      return drawn(position);
    }
    return listed_.empty() ? position : listed_[static_cast<std::size_t>(position)];
  }

  /// Tells the same sample at different positions apart, for SampleKey::occurrence: 0 where none repeats, else the
  /// position, so that nothing before it has to be looked at.
  [[nodiscard]] int64_t occurrence(int64_t position) const noexcept { return repeats_ ? position : 0; }

  /// A sample of this epoch in place of that at `position`, which cannot be made: the `attempt`-th choice, from 0. May
  /// be that very sample.
  [[nodiscard]] int64_t substitute(int64_t position, int attempt) const noexcept;

  /// The occurrence of a substitute: no position has it.
  [[nodiscard]] int64_t substitute_occurrence(int64_t position) const noexcept { return size_ + position; }

 private:
  [[nodiscard]] int64_t drawn(int64_t position) const noexcept;

  std::vector<int64_t> listed_;
  std::shared_ptr<const Draw> draw_;
  int64_t size_;
  bool repeats_;
  uint64_t key_;
};

/// A keyed Fisher–Yates shuffle, in place.
void shuffle_samples(std::vector<int64_t>& samples, uint64_t key) noexcept;

}  // namespace tenon::engine
