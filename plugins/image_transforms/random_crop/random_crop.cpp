// transform:random_crop: a window of fixed size at a random place.
#include <cmath>
#include <string>

#include <support/geometric.hpp>
#include <support/grow.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct RandomCropParams : JointParams, SizeParams, FillParams {
  std::vector<int64_t> padding;
  bool pad_if_needed = false;
  Padding padding_mode = Padding::kConstant;
  int64_t grow = 0;

  TENON_PARAMS(RandomCropParams, TENON_SIZE_FIELDS(RandomCropParams),
               tenon::field(&RandomCropParams::padding, "padding",
                            "Pixels added to the image before: on all sides, or [left and right, top and bottom], or "
                            "[left, top, right, bottom]")
                   .min(0)
                   .max(kLargestSide),
               tenon::field(&RandomCropParams::pad_if_needed, "pad_if_needed",
                            "Whether an image that is too small is padded; otherwise it is an error"),
               tenon::field(&RandomCropParams::padding_mode, "padding_mode", "What is added"),
               TENON_FILL_FIELDS(RandomCropParams), TENON_CUT_FIELDS(RandomCropParams), grow_field<RandomCropParams>())
};

class RandomCrop final : public Cropping {
 public:
  explicit RandomCrop(const RandomCropParams& params)
      : Cropping(params, filled(params, params.padding_mode), true),
        out_(params.extent()),
        sides_(sides_of(params.padding)),
        pad_if_needed_(params.pad_if_needed),
        grow_(params.grow) {}

  static Ports ports() { return joint_ports(SizeAxes{"$height", "$width"}, true); }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }
  static Example example() { return joint_example(R"("height": 7, "width": 8, "pad_if_needed": true)", true); }

 protected:
  [[nodiscard]] std::optional<std::array<Dim, 2>> size() const override {
    return {{Dim(out_.height), Dim(out_.width)}};
  }

  /// With padding, the part within the image does not tell where the window lies.
  [[nodiscard]] bool cuts() const noexcept override { return sides_.none() && !pad_if_needed_; }

  [[nodiscard]] Map chosen(const Extent& /*whole*/, const Region& region) const override { return Map::cut(region); }

  /// Two draws: top, then left. While the strength grows, the window lies nearer to the middle.
  [[nodiscard]] Map plan(const Extent& extent, Rng& random, const When& when) const override {
    const double share = strength(grow_, when);
    const int64_t top = start(extent.height, sides_.top, sides_.bottom, out_.height, share, random, extent);
    const int64_t left = start(extent.width, sides_.left, sides_.right, out_.width, share, random, extent);
    return Map::cut({top, left, out_.height, out_.width});
  }

 private:
  [[nodiscard]] int64_t start(int64_t whole, int64_t before, int64_t after, int64_t part, double share, Rng& random,
                              const Extent& extent) const {
    const int64_t padded = whole + before + after;
    const int64_t lacking = pad_if_needed_ && padded < part ? part - padded : 0;
    const int64_t room = padded + 2 * lacking - part;
    if (room < 0) {
      throw Error(ErrorCode::kData, "the image has " + std::to_string(extent.height) + " x " +
                                        std::to_string(extent.width) + " pixels, which is less than the crop of " +
                                        std::to_string(out_.height) + " x " + std::to_string(out_.width) +
                                        (sides_.none() ? "" : ", padding included") +
                                        ": resize it before, or set pad_if_needed");
    }
    const auto margin = static_cast<int64_t>((1 - share) * static_cast<double>(room) / 2);
    return random.integer(margin, room - margin) - before - lacking;
  }

  Extent out_;
  Sides sides_;
  bool pad_if_needed_;
  int64_t grow_;
};

TENON_COMPONENT(RandomCrop, RandomCropParams, "random_crop", "Cuts a window of fixed size out of an image, anywhere")

}  // namespace tenon::image_transforms
