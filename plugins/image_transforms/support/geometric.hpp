// What geometric transforms are made of: each says how a sample is mapped, and all else is here.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <support/joint.hpp>
#include <support/map.hpp>
#include <tenon/components/partial_read.hpp>
#include <tenon/components/transform.hpp>

namespace tenon::image_transforms {

/// Largest height or width that a parameter may ask for.
inline constexpr int64_t kLargestSide = 16384;

/// A fixed size that comes out; structs of parameters derive from it.
struct SizeParams {
  int64_t height = 0;
  int64_t width = 0;

  [[nodiscard]] Extent extent() const noexcept { return {height, width}; }
};

template <class S>
[[nodiscard]] Field height_field() {
  return field(static_cast<int64_t S::*>(&S::height), "height", "Height that comes out, pixels")
      .min(1)
      .max(kLargestSide)
      .required();
}

template <class S>
[[nodiscard]] Field width_field() {
  return field(static_cast<int64_t S::*>(&S::width), "width", "Width that comes out, pixels")
      .min(1)
      .max(kLargestSide)
      .required();
}

#define TENON_SIZE_FIELDS(S) height_field<S>(), width_field<S>()

/// A transform that maps image, masks and boxes alike, whatever the image's depth.
class Geometric : public Transform {
 public:
  [[nodiscard]] Spec spec(const Spec& in) const override { return joint_.spec(in, size(), style_.fill); }

  void apply(Sample& sample, Rng& random, const When& when) const override {
    with_image(sample.at(joint_.image_field()), joint_.image_field(),
               [&](const auto& image) { joint_.draw(sample, image, plan(image.extent(), random, when), style_); });
  }

 protected:
  /// `drops`: boxes may vanish.
  Geometric(JointParams joint, Style style, bool drops) : joint_(std::move(joint), drops), style_(std::move(style)) {}

  /// Draws the parameters of one sample's map. \throws Error (kData) for a size that cannot be.
  [[nodiscard]] virtual Map plan(const Extent& extent, Rng& random, const When& when) const = 0;

  /// Height and width that come out, unless they are those that go in.
  [[nodiscard]] virtual std::optional<std::array<Dim, 2>> size() const { return std::nullopt; }

  [[nodiscard]] const Joint& joint() const noexcept { return joint_; }
  [[nodiscard]] const Style& style() const noexcept { return style_; }

 private:
  Joint joint_;
  Style style_;
};

/// A geometric transform that looks at a window of its image.
class Cropping : public Geometric, public Cutting {
 public:
  static std::vector<std::string> abilities() { return {Cutting::kAbility}; }

  [[nodiscard]] void* ability(const char* id) noexcept override {
    return std::string_view(id) == Cutting::kAbility ? static_cast<Cutting*>(this) : nullptr;
  }

  [[nodiscard]] std::string_view cut_field() const noexcept override {
    if (!cuts() || !joint().image_alone()) return {};
    return joint().image_field();
  }

  [[nodiscard]] Region choose(const Extent& whole, Rng& random, const When& when) const override {
    const Region window = plan(whole, random, when).window;
    const int64_t top = std::clamp<int64_t>(window.top, 0, whole.height);
    const int64_t left = std::clamp<int64_t>(window.left, 0, whole.width);
    return {top, left, std::clamp(window.top + window.height, top, whole.height) - top,
            std::clamp(window.left + window.width, left, whole.width) - left};
  }

  void apply_cut(Sample& sample, const Extent& whole, const Region& region, Rng& /*random*/,
                 const When& /*when*/) const override {
    Map map = chosen(whole, region);
    map.window.top -= region.top;
    map.window.left -= region.left;
    with_image(sample.at(joint().image_field()), joint().image_field(),
               [&](const auto& image) { joint().draw_part(sample, image, map, style()); });
  }

 protected:
  using Geometric::Geometric;

  /// Whether these parameters let `chosen` tell the map.
  [[nodiscard]] virtual bool cuts() const noexcept { return true; }

  /// The map whose window, as far as it lies within the image, is `region`.
  [[nodiscard]] virtual Map chosen(const Extent& whole, const Region& region) const = 0;
};

}  // namespace tenon::image_transforms
