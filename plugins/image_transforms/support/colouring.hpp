// What transforms of one image have in common that change its colours alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <support/joint.hpp>
#include <tenon/components/transform.hpp>

namespace tenon::image_transforms {

class Colouring : public Transform {
 public:
  static Ports ports() { return {{Port::of("$image", {Dtype::kUint8}, {"H", "W", "C"})}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    require_image(in, image_);
    return in;
  }

 protected:
  explicit Colouring(std::string image) : image_(std::move(image)) {}

  [[nodiscard]] const std::string& image() const noexcept { return image_; }

  [[nodiscard]] View in(const Sample& sample) const { return image_of(sample.at(image_), image_); }

  /// Memory for the result, of the same size and channels.
  [[nodiscard]] Canvas out(Sample& sample, const View& like) const {
    return allocate_image(sample, image_, like.extent(), like.channels);
  }

 private:
  std::string image_;
};

template <class S>
[[nodiscard]] Field coloured_field() {
  return field(static_cast<std::string S::*>(&S::image), "image",
               "Image that is changed: uint8 [H, W, C]; a fourth channel, alpha, stays");
}

}  // namespace tenon::image_transforms
