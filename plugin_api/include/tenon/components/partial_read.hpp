// Abilities for reading a part of an image alone: of the dataset that can, and of the transform that wants no more.
//
// Where a dataset with PartialRead is followed by a transform with Cutting on the same field, the engine asks the
// transform for the region before the dataset decodes anything. The bytes are those of reading the whole and cutting
// then, so nothing but time depends on it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <tenon/components/transform.hpp>
#include <tenon/random.hpp>
#include <tenon/sample.hpp>

namespace tenon {

/// Height and width of an image, pixels.
struct Extent {
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const Extent&, const Extent&) = default;
};

/// A rectangle of pixels within an image.
struct Region {
  int64_t top = 0;
  int64_t left = 0;
  int64_t height = 0;
  int64_t width = 0;

  friend bool operator==(const Region&, const Region&) = default;
};

/// Ability of a dataset that can read a region of an image for less than the whole, such as JPEG. Asked for once the
/// dataset is open: one over others may know no earlier.
class PartialRead {
 public:
  static constexpr const char* kAbility = "tenon.partial_read/1";

  /// The field of spec() that is read in part: [H, W, C] or [H, W]. Any other name: none is.
  [[nodiscard]] virtual std::string_view partial_field() const noexcept = 0;

  /// As Dataset::read, but `choose` is called once, with the size of the whole image, and the field is allocated in the
  /// size of the region that it gives. Every pixel equals that of the whole image, decoded at once. Whatever `choose`
  /// throws passes through. \throws Error (kData) as read does. [loader]
  virtual void read_part(int64_t index, const std::function<Region(Extent)>& choose, Sample& out) const = 0;

 protected:
  ~PartialRead() = default;
};

/// Ability of a transform that looks at a region of its image alone, chosen from the image's size: a crop.
class Cutting {
 public:
  static constexpr const char* kAbility = "tenon.cutting/1";

  /// The field that it cuts, if it cuts that one alone: with masks or boxes beside it there is nothing to save.
  /// Empty: it has no use for regions with these parameters.
  [[nodiscard]] virtual std::string_view cut_field() const noexcept = 0;

  /// The region that apply() would look at, for an image of that size. Takes the first draws that apply() takes. [loader]
  [[nodiscard]] virtual Region choose(const Extent& whole, Rng& random, const When& when) const = 0;

  /// What apply() does behind its choice: the sample holds the region alone, `whole` is the size of the image that it was
  /// cut from, and `random` goes on where choose() left it. If it does not allocate the field, the region is its value.
  /// [loader]
  virtual void apply_cut(Sample& sample, const Extent& whole, const Region& region, Rng& random,
                         const When& when) const = 0;

 protected:
  ~Cutting() = default;
};

}  // namespace tenon
