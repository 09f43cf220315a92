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

/// The images that a transform takes: those of 8 bits, uint8, or those of 16 bits as well, int32 from 0 to 65535.
enum class Depths { k8, k8And16 };

/// The types of these images, as port rules name them.
[[nodiscard]] std::vector<Dtype> dtypes_of(Depths depths);

/// Parameters that geometric transforms have in common: structs of parameters derive from it, and list their fields
/// with TENON_MOVED_FIELDS or, where boxes may vanish, TENON_CUT_FIELDS.
struct JointParams {
  static constexpr Depths kDepths = Depths::k8And16;

  std::string image = "image";
  std::vector<std::string> masks;
  std::string boxes;
  std::vector<std::string> with_boxes;
  double min_visible = 0;
};

/// Likewise, for transforms of images of 8 bits alone.
struct JointParams8 : JointParams {
  static constexpr Depths kDepths = Depths::k8;
};

template <class S>
[[nodiscard]] Field image_field(Depths depths = Depths::k8) {
  return field(static_cast<std::string S::*>(&S::image), "image",
               std::string("Image that is changed: uint8 [H, W, C]") +
                   (depths == Depths::k8And16 ? ", or int32 where it has 16 bits" : ""));
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

#define TENON_MOVED_FIELDS(S) image_field<S>(S::kDepths), masks_field<S>(), boxes_field<S>()
#define TENON_CUT_FIELDS(S) TENON_MOVED_FIELDS(S), with_boxes_field<S>(), min_visible_field<S>()

/// Height and width of what comes out, as port rules name them.
using SizeAxes = std::array<Port::Axis, 2>;

/// Port rules of a geometric transform. `size`: of image and masks, where it changes. `drops`: boxes may vanish.
[[nodiscard]] Ports joint_ports(const std::optional<SizeAxes>& size, bool drops, Depths depths = JointParams::kDepths);

/// What a geometric transform can be tried with: `own` are its own parameters, as members of a JSON object.
[[nodiscard]] Example joint_example(const std::string& own, bool drops);

/// An image field as a view. \throws Error (kData) unless it is of that type, [H, W, C] with 1 to 4 channels and some
/// pixels.
template <class T = uint8_t>
[[nodiscard]] Plane<const T> image_of(const Array& array, const std::string& field);

/// Calls `use` with an image field of 8 or 16 bits as the view that it is. \throws Error (kData) as image_of.
template <class Use>
void with_image(const Array& array, const std::string& field, const Use& use) {
  if (array.dtype == Dtype::kInt32) return use(image_of<int32_t>(array, field));
  use(image_of(array, field));
}

/// A mask as a view. \throws Error (kData) unless it is uint8 [H, W] of its image's size.
[[nodiscard]] View mask_of(const Array& array, const Extent& extent, const std::string& field);

/// The edges of boxes, four for each. \throws Error (kData) unless they are float32 [n, 4].
[[nodiscard]] std::span<const float> boxes_of(const Array& array, const std::string& field);

/// Memory for a field of images. \throws Error (kData) as Sample::allocate does.
template <class T = uint8_t>
[[nodiscard]] Plane<T> allocate_image(Sample& sample, const std::string& field, const Extent& extent, int64_t channels);

/// \throws Error (kConfig), pointer "/image", unless the field is [H, W, C] of such a type, with 1, 3 or 4 channels, or
/// a number not known yet.
const FieldSpec& require_image(const Spec& in, const std::string& field, Depths depths = Depths::k8);

/// Bytes for the channels of a colour that parameters name.
[[nodiscard]] std::vector<uint8_t> bytes_of(const std::vector<int64_t>& values);

/// Reads and writes the fields of one transform. Immutable.
class Joint {
 public:
  /// \throws Error (kConfig) when a field is named twice.
  Joint(JointParams params, bool drops, Depths depths = JointParams::kDepths);

  [[nodiscard]] const std::string& image_field() const noexcept { return params_.image; }

  /// True when nothing but the image changes.
  [[nodiscard]] bool image_alone() const noexcept { return params_.masks.empty() && params_.boxes.empty(); }

  /// The fields that come out, where image and masks take the size `size`; Dims as they are where it is empty.
  /// \throws Error (kConfig) for a field that is missing or of another type or shape, or a colour that it has not.
  [[nodiscard]] Spec spec(const Spec& in, const std::optional<std::array<Dim, 2>>& size,
                          const std::vector<int64_t>& fill) const;

  /// The image, of 8 bits.
  [[nodiscard]] View image(const Sample& sample) const { return image_of(sample.at(params_.image), params_.image); }

  /// Changes all fields by one map; `image` is what stands for the field. What a map leaves as it is, is not written.
  template <class T>
  void draw(Sample& sample, const Plane<const T>& image, const Map& map, const Style& style) const {
    if (!map.is_identity(image.extent())) draw_part(sample, image, map, style);
    if (!image_alone()) follow(sample, image.extent(), {&map, 1}, style);
  }

  /// Draws the image alone, and always writes it: `image` is a part of what the sample's field should hold.
  template <class T>
  void draw_part(Sample& sample, const Plane<const T>& image, const Map& map, const Style& style) const {
    draw_image(image, map, style, allocate_image<T>(sample, params_.image, map.out, image.channels));
  }

  /// Changes masks and boxes by maps, one after the other, each for the size that the one before gives.
  void follow(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const;

 private:
  void require_colour(const std::vector<int64_t>& fill, const FieldSpec& image) const;
  void draw_masks(Sample& sample, const Extent& extent, std::span<const Map> maps, const Style& style) const;
  void move_boxes(Sample& sample, std::span<const Map> maps) const;
  void keep_rows(Sample& sample, const std::string& field, std::span<const int64_t> kept, int64_t count) const;

  JointParams params_;
  bool drops_;
  Depths depths_;
};

}  // namespace tenon::image_transforms
