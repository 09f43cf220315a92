// Samples through transforms and out of datasets, without an engine.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tenon/components/dataset.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/harness/memory_sample.hpp>

namespace tenon::harness {

/// What keys the randomness of one sample.
struct Draw {
  uint64_t seed = 1;
  int64_t sample = 0;
  int64_t epoch = 0;
  int64_t epochs = 1;
};

/// The stream that `push` gives for this draw: equal draws, equal numbers.
[[nodiscard]] Rng stream_of(const Draw& draw) noexcept;

/// Pushes one sample through a transform and gives the sample that the next stage sees: all fields of the transform's
/// spec. \throws Error when the transform refuses the sample, writes against its spec (kData), or changes its input
/// (kData): what lies in `in` is compared before and after.
[[nodiscard]] MemorySample push(const Transform& transform, const MemorySample& in, const Draw& draw = {});

/// Lets a transform with the ability Fitted learn from these samples; does nothing to another one.
void fit(Transform& transform, std::span<const MemorySample> samples);

/// Lets a dataset learn its inputs' fields where it has the ability Derived, then opens it over them.
void open(Dataset& dataset, std::span<Dataset* const> inputs = {});

/// Item `index`, as a stage behind the dataset sees it: all fields of the dataset's spec.
/// \throws Error (kData) when the item is written against the spec, or a field is missing.
[[nodiscard]] MemorySample read(const Dataset& dataset, int64_t index);

/// Item `index` as it lies in the memory of a dataset with the ability InMemory: the bytes that read() has to give.
/// \throws Error (kData) when it cannot be viewed, when an axis of its spec is free, or a field has no place.
[[nodiscard]] MemorySample view(Dataset& dataset, int64_t index);

/// An item of which one field was read in part.
struct PartOfItem {
  MemorySample sample;
  Extent whole;
  Region region;
};

/// Item `index` of a dataset with the ability PartialRead, the region chosen by `choose`.
/// \throws Error (kData) when it reads against its spec or another size than the region's, or does not ask once.
[[nodiscard]] PartOfItem read_part(Dataset& dataset, int64_t index, const std::function<Region(const Extent&)>& choose);

/// The sample with that region of an image [H, W, …] in place of the image. \throws Error (kData) for no such image.
[[nodiscard]] MemorySample cut(const MemorySample& sample, std::string_view field, const Region& region);

/// push() by way of the ability Cutting: the transform chooses its region, gets a sample that holds this alone, and
/// goes on. What comes out has to be what push() gives. \throws Error (kData) for a region out of the image, as push() else.
[[nodiscard]] MemorySample push_cut(Transform& transform, const MemorySample& in, const Draw& draw = {});

/// push() of a transform with the ability MultiSample, which needs these further samples.
/// \throws Error (kData) when their number is not others(), or one of them is changed; as push() else.
[[nodiscard]] MemorySample push_with(Transform& transform, const MemorySample& in, std::span<const MemorySample> others,
                                     const Draw& draw = {});

/// Items that a test made: an input for datasets over others.
class MemoryDataset final : public Dataset {
 public:
  /// Every item has the fields of the first one; `spec` may leave axes free.
  MemoryDataset(Spec spec, std::vector<MemorySample> items);

  [[nodiscard]] Spec spec() const override { return spec_; }
  void open(std::span<Dataset* const> inputs) override;
  [[nodiscard]] int64_t size() const override { return static_cast<int64_t>(items_.size()); }
  [[nodiscard]] std::string fingerprint() const override { return "memory-" + std::to_string(items_.size()); }
  void read(int64_t index, Sample& out) const override;

 private:
  Spec spec_;
  std::vector<MemorySample> items_;
};

}  // namespace tenon::harness
