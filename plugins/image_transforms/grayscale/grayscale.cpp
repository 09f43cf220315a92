// transform:grayscale: the colours become grey.
#include <string>

#include <support/colour.hpp>
#include <support/joint.hpp>
#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct GrayscaleParams {
  std::string image = "image";
  int64_t channels = 1;

  TENON_PARAMS(
      GrayscaleParams, image_field<GrayscaleParams>(),
      tenon::field(&GrayscaleParams::channels, "channels", "Channels that come out: 1, or 3 equal ones").min(1).max(3))
};

class Grayscale final : public Transform {
 public:
  explicit Grayscale(GrayscaleParams params) : params_(std::move(params)) {
    if (params_.channels == 2) throw Error(ErrorCode::kConfig, "an image has 1 or 3 channels", "/channels");
  }

  static Ports ports() {
    return {{Port::of("$image", {Dtype::kUint8}, {"H", "W", "C"})},
            {Port::pass_all(), Port::of("$image", {Dtype::kUint8}, {"H", "W", "$channels"})}};
  }
  static std::vector<std::string> traits() { return {"deterministic"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    require_image(in, params_.image);
    Spec out = in;
    out[static_cast<std::size_t>(index_of(in, params_.image))].shape[2] = params_.channels;
    return out;
  }

  void apply(Sample& sample, Rng& /*random*/, const When& /*when*/) const override {
    const View in = image_of(sample.at(params_.image), params_.image);
    if (in.channels == 1 && params_.channels == 1) return;
    grayscale(in, allocate_image(sample, params_.image, in.extent(), params_.channels));
  }

 private:
  GrayscaleParams params_;
};

TENON_COMPONENT(Grayscale, GrayscaleParams, "grayscale", "Makes an image grey, in one channel or three equal ones")

}  // namespace tenon::image_transforms
