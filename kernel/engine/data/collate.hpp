// How samples become batches: stacked, padded, or joined as lists; sizes that all batches of a loader share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <core/plugin/loader_params.hpp>
#include <engine/data/batch.hpp>
#include <tenon/spec.hpp>

namespace tenon::engine {

/// What becomes of a sample that cannot be made.
enum class OnBadSample : uint8_t { kFail, kSkip, kSubstitute };

/// What the loader is told of the making of batches.
struct CollateOptions {
  std::vector<core::PadParams> pad = {};
  std::vector<std::string> lists = {};
  OnBadSample bad = OnBadSample::kFail;
};

enum class Collate : uint8_t { kStack, kPad, kList };

/// One element of any type as bytes.
struct Element {
  std::array<std::byte, 8> bytes{};
  std::size_t size = 1;
};

/// A number as an element of the type, which has it. [any thread]
[[nodiscard]] Element element_of(double value, Dtype dtype);

/// Sizes and rules that all batches of a loader share.
struct BatchLayout {
  struct Field {
    Dtype dtype = Dtype::kFloat32;
    Collate how = Collate::kStack;
    bool fixed = false;                  ///< Each sample's place in the batch is known before any sample.
    Shape shape;                         ///< Of that place, when fixed; free axes are 0 else.
    std::size_t stride = 0;              ///< Bytes of one place, when fixed.
    std::vector<std::size_t> free_axes;  ///< Of a sample.
    Element fill;                        ///< Where padded.
    std::optional<int64_t> to;           ///< Size of the padded axes, if given.
    int64_t multiple = 1;                ///< Else they are rounded up to it.
    int length = -1;                     ///< Position in `outputs` of the lengths, or -1.
    int mask = -1;                       ///< Likewise.
  };

  /// \throws Error: kConfig with the pointer of what contradicts the fields, kMemory when no machine could hold it.
  BatchLayout(Spec fields_of_a_sample, int64_t most_samples, CollateOptions options = {});

  /// Bytes of a full batch, as far as they are known before any sample: free axes count as empty.
  [[nodiscard]] std::size_t bytes() const noexcept;

  Spec spec;     ///< of a sample
  Spec outputs;  ///< of a batch, with its first axis: core::batch_fields
  OnBadSample bad = OnBadSample::kFail;
  int64_t capacity = 0;
  std::vector<Field> fields;  ///< by position in `spec`
};

/// Copies a value into a larger place of as many axes, and fills the rest: each axis of `from` is at most that of `to`.
void copy_padded(std::byte* place, std::span<const int64_t> to, const std::byte* value, std::span<const int64_t> from,
                 const Element& fill);

/// Repeats an element over `bytes` bytes.
void fill_with(std::byte* place, std::size_t bytes, const Element& fill);

}  // namespace tenon::engine
