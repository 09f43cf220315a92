// transform:resize: an image in another size.
#include <algorithm>
#include <cmath>
#include <string>

#include <support/geometric.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct ResizeParams : JointParams {
  std::optional<int64_t> height;
  std::optional<int64_t> width;
  std::optional<int64_t> size;
  std::optional<int64_t> max_size;
  Interpolation interpolation = Interpolation::kBilinear;
  bool antialias = true;

  TENON_PARAMS(ResizeParams,
               tenon::field(&ResizeParams::height, "height", "Height that comes out, pixels; with \"width\"")
                   .min(1)
                   .max(kLargestSide)
                   .word("by size"),
               tenon::field(&ResizeParams::width, "width", "Width that comes out, pixels; with \"height\"")
                   .min(1)
                   .max(kLargestSide)
                   .word("by size"),
               tenon::field(&ResizeParams::size, "size",
                            "Length of the shorter side that comes out, pixels; the shape is kept")
                   .min(1)
                   .max(kLargestSide)
                   .word("none"),
               tenon::field(&ResizeParams::max_size, "max_size",
                            "With \"size\": the longer side is no longer than this, pixels")
                   .min(1)
                   .max(kLargestSide)
                   .word("none"),
               tenon::field(&ResizeParams::interpolation, "interpolation", "How values between pixels are made"),
               tenon::field(&ResizeParams::antialias, "antialias",
                            "Whether bilinear and bicubic average over all pixels where the image shrinks"),
               TENON_MOVED_FIELDS(ResizeParams))
};

class Resize final : public Geometric {
 public:
  explicit Resize(const ResizeParams& params)
      : Geometric(params, style_of(params), false),
        height_(params.height),
        width_(params.width),
        size_(params.size),
        max_size_(params.max_size) {
    if (height_.has_value() != width_.has_value()) {
      throw Error(ErrorCode::kConfig, "height and width go together: give both, or \"size\" alone",
                  height_ ? "/width" : "/height");
    }
    if (size_.has_value() == height_.has_value()) {
      throw Error(ErrorCode::kConfig,
                  size_ ? "height and width say the size already: leave one of the two out"
                        : "how large? Give height and width, or size, the length of the shorter side",
                  "/size");
    }
    if (max_size_ && !size_) throw Error(ErrorCode::kConfig, "max_size goes with size alone", "/max_size");
    if (max_size_ && *max_size_ < *size_) {
      throw Error(ErrorCode::kConfig, "the longer side cannot be shorter than size", "/max_size");
    }
  }

  static Ports ports() { return joint_ports(SizeAxes{"$height", "$width"}, false); }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static Example example() { return joint_example(R"("size": 6, "max_size": 6)", false); }

 protected:
  [[nodiscard]] std::optional<std::array<Dim, 2>> size() const override {
    if (size_) return {{Dim("h"), Dim("w")}};
    return {{Dim(*height_), Dim(*width_)}};
  }

  [[nodiscard]] Map plan(const Extent& extent, Rng& /*random*/, const When& /*when*/) const override {
    Map map = Map::identity(extent);
    map.out = size_ ? by_shorter_side(extent) : Extent{*height_, *width_};
    return map;
  }

 private:
  static Style style_of(const ResizeParams& params) {
    Style style;
    style.interpolation = params.interpolation;
    style.antialias = params.antialias;
    return style;
  }

  /// As torchvision has it: the longer side is cut off to whole pixels.
  [[nodiscard]] Extent by_shorter_side(const Extent& extent) const {
    const int64_t shorter = std::min(extent.height, extent.width);
    const int64_t longer = std::max(extent.height, extent.width);
    int64_t to_shorter = *size_;
    auto to_longer =
        static_cast<int64_t>(static_cast<double>(*size_) * static_cast<double>(longer) / static_cast<double>(shorter));
    if (max_size_ && to_longer > *max_size_) {
      to_shorter =
          std::max<int64_t>(static_cast<int64_t>(static_cast<double>(*max_size_) * static_cast<double>(to_shorter) /
                                                 static_cast<double>(to_longer)),
                            1);
      to_longer = *max_size_;
    }
    if (to_longer > 4 * kLargestSide) {
      throw Error(ErrorCode::kData, "an image of " + std::to_string(extent.height) + " x " +
                                        std::to_string(extent.width) + " pixels would get a side of " +
                                        std::to_string(to_longer) + ": set max_size");
    }
    return extent.height <= extent.width ? Extent{to_shorter, to_longer} : Extent{to_longer, to_shorter};
  }

  std::optional<int64_t> height_;
  std::optional<int64_t> width_;
  std::optional<int64_t> size_;
  std::optional<int64_t> max_size_;
};

TENON_COMPONENT(Resize, ResizeParams, "resize",
                "Resizes an image, with a filter that keeps fine patterns from aliasing")

}  // namespace tenon::image_transforms
