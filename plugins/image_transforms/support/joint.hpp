// The fields that change together: an image, its masks, its boxes and what belongs to the boxes.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <support/map.hpp>
#include <tenon/example.hpp>
#include <tenon/params.hpp>
#include <tenon/ports.hpp>
#include <tenon/sample.hpp>
#include <tenon/spec.hpp>

namespace tenon::image_transforms {

/// Parameters that geometric transforms have in common: structs of parameters derive from it, and list their fields
/// with TENON_MOVED_FIELDS or, where boxes may vanish, TENON_CUT_FIELDS.
struct JointParams {
  std::string image = "image";
  std::vector<std::string> masks;
  std::string boxes;
  std::vector<std::string> with_boxes;
  double min_visible = 0;
};

template <class S>
[[nodiscard]] Field image_field() {
  return field(static_cast<std::string S::*>(&S::image), "image", "Image that is changed: uint8 [H, W, C]");
}

template <class S>
[[nodiscard]] Field masks_field() {
  return field(static_cast<std::vector<std::string> S::*>(&S::masks), "masks",
               "Masks that follow the image: uint8 [H, W], by the nearest pixel");
}

template <class S>
[[nodiscard]] Field boxes_field() {
  return field(static_cast<std::string S::*>(&S::boxes), "boxes",
               "Boxes that follow the image: float32 [n, 4], left, top, right and bottom edge in pixels; empty: none");
}

template <class S>
[[nodiscard]] Field with_boxes_field() {
  return field(static_cast<std::vector<std::string> S::*>(&S::with_boxes), "with_boxes",
               "Fields of one row a box, such as classes: they lose the rows of boxes that vanish");
}

template <class S>
[[nodiscard]] Field min_visible_field() {
  return field(static_cast<double S::*>(&S::min_visible), "min_visible",
               "Share of a box's area that must stay in the image, or the box vanishes; 0: any part of it")
      .min(0)
      .max(1);
}

#define TENON_MOVED_FIELDS(S) image_field<S>(), masks_field<S>(), boxes_field<S>()
#define TENON_CUT_FIELDS(S) TENON_MOVED_FIELDS(S), with_boxes_field<S>(), min_visible_field<S>()

/// Height and width of what comes out, as port rules name them.
using SizeAxes = std::array<Port::Axis, 2>;

/// Port rules of a geometric transform. `size`: of image and masks, where it changes. `drops`: boxes may vanish.
[[nodiscard]] Ports joint_ports(const std::optional<SizeAxes>& size, bool drops);

/// What a geometric transform can be tried with: `own` are its own parameters, as members of a JSON object.
[[nodiscard]] Example joint_example(const std::string& own, bool drops);

/// An image field as a view. \throws Error (kData) unless it is uint8 [H, W, C] with 1 to 4 channels and some pixels.
[[nodiscard]] View image_of(const Array& array, const std::string& field);

/// A mask as a view. \throws Error (kData) unless it is uint8 [H, W] of its image's size.
[[nodiscard]] View mask_of(const Array& array, const Extent& extent, const std::string& field);

/// The edges of boxes, four for each. \throws Error (kData) unless they are float32 [n, 4].
[[nodiscard]] std::span<const float> boxes_of(const Array& array, const std::string& field);

/// Memory for a field of images. \throws Error (kData) as Sample::allocate does.
[[nodiscard]] Canvas allocate_image(Sample& sample, const std::string& field, const Extent& extent, int64_t channels);

/// \throws Error (kConfig) unless the field is uint8 [H, W, C] with 1, 3 or 4 channels, or a number not known yet.
const FieldSpec& require_image(const Spec& in, const std::string& field, const std::string& pointer = "/image");

/// Bytes for the channels of a colour that parameters name.
[[nodiscard]] std::vector<uint8_t> bytes_of(const std::vector<int64_t>& values);

/// Reads and writes the fields of one transform. Immutable.
class Joint {
 public:
  /// \throws Error (kConfig) when a field is named twice.
  Joint(JointParams params, bool drops);

  [[nodiscard]] const std::string& image_field() const noexcept { return params_.image; }

  /// True when nothing but the image changes.
  [[nodiscard]] bool image_alone() const noexcept { return params_.masks.empty() && params_.boxes.empty(); }

  /// The fields that come out, where image and masks take the size `size`; Dims as they are where it is empty.
  /// \throws Error (kConfig) for a field that is missing or of another type or shape, or a colour of other channels.
  [[nodiscard]] Spec spec(const Spec& in, const std::optional<std::array<Dim, 2>>& size,
                          const std::vector<uint8_t>& fill) const;

  [[nodiscard]] View image(const Sample& sample) const { return image_of(sample.at(params_.image), params_.image); }

  /// Changes all fields by one map; `image` is what stands for the field. What a map leaves as it is, is not written.
  void draw(Sample& sample, const View& image, const Map& map, const Style& style) const;

  /// Draws the image alone, and always writes it: `image` is a part of what the sample's field should hold.
  void draw_part(Sample& sample, const View& image, const Map& map, const Style& style) const;

  /// Changes masks and boxes by maps, one after the other, each for the size that the one before gives.
  void follow(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const;

 private:
  void draw_masks(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const;
  void move_boxes(Sample& sample, std::span<const Map> maps) const;
  void keep_rows(Sample& sample, const std::string& field, std::span<const int64_t> kept, int64_t count) const;

  JointParams params_;
  bool drops_;
};

}  // namespace tenon::image_transforms
