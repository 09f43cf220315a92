// transform:center_crop: the middle of an image.
#include <cmath>

#include <support/geometric.hpp>
#include <support/joint.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct CenterCropParams : JointParams, SizeParams, FillParams {
  TENON_PARAMS(CenterCropParams, TENON_SIZE_FIELDS(CenterCropParams), TENON_FILL_FIELDS(CenterCropParams),
               TENON_CUT_FIELDS(CenterCropParams))
};

class CenterCrop final : public Cropping {
 public:
  explicit CenterCrop(const CenterCropParams& params) : Cropping(params, filled(params), true), out_(params.extent()) {}

  static Ports ports() { return joint_ports(SizeAxes{"$height", "$width"}, true); }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static Example example() { return joint_example(R"("height": 4, "width": 9)", true); }

 protected:
  [[nodiscard]] std::optional<std::array<Dim, 2>> size() const override {
    return {{Dim(out_.height), Dim(out_.width)}};
  }

  [[nodiscard]] Map plan(const Extent& extent, Rng& /*random*/, const When& /*when*/) const override {
    return window(extent);
  }

  [[nodiscard]] Map chosen(const Extent& whole, const Region& /*region*/) const override { return window(whole); }

 private:
  /// Where what is cut off is odd, as torchvision: halves to the even number; an image that is too small gets the
  /// smaller half of what it lacks before it.
  static int64_t start(int64_t whole, int64_t part) {
    if (whole < part) return -((part - whole) / 2);
    return static_cast<int64_t>(std::nearbyint(static_cast<double>(whole - part) / 2));
  }

  [[nodiscard]] Map window(const Extent& extent) const {
    return Map::cut({start(extent.height, out_.height), start(extent.width, out_.width), out_.height, out_.width});
  }

  Extent out_;
};

TENON_COMPONENT(CenterCrop, CenterCropParams, "center_crop", "Cuts the middle out of an image; a smaller one is padded")

}  // namespace tenon::image_transforms
