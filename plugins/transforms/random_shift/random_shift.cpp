// transform:random_shift: moves an image by a random whole number of pixels on each axis.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace tenon::transforms {

struct RandomShiftParams {
  std::string field = "image";
  int64_t pixels = 1;

  TENON_PARAMS(RandomShiftParams,
               tenon::field(&RandomShiftParams::field, "field", "Image that is moved: [C, H, W] or [H, W] of any type"),
               tenon::field(&RandomShiftParams::pixels, "pixels", "Largest distance on each axis, pixels").min(0))
};

class RandomShift final : public Transform {
 public:
  explicit RandomShift(RandomShiftParams params) : params_(std::move(params)) {}

  static Ports ports() { return {{Port::any("$field")}, {Port::pass_all()}}; }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  [[nodiscard]] Spec spec(const Spec& in) const override {
    const FieldSpec& field = in[static_cast<std::size_t>(index_of(in, params_.field))];
    if (field.shape.size() != 2 && field.shape.size() != 3) {
      throw Error(ErrorCode::kConfig, "\"" + field.name + "\" is " + to_string(field) +
                                          ", which is no image: take a field of shape [C, H, W] or [H, W]");
    }
    return in;
  }

  /// Two draws a sample: down, then right.
  void apply(Sample& sample, Rng& random, const When& /*when*/) const override {
    const Array in = sample.at(params_.field);
    const Array out = sample.allocate(params_.field, in.dtype, in.shape);
    const std::size_t axes = in.shape.size();
    const int64_t planes = axes == 3 ? in.shape[0] : 1;
    const int64_t height = in.shape[axes - 2];
    const int64_t width = in.shape[axes - 1];
    const int64_t down = std::clamp(random.integer(-params_.pixels, params_.pixels), -height, height);
    const int64_t right = std::clamp(random.integer(-params_.pixels, params_.pixels), -width, width);
    std::memset(out.data, 0, out.bytes());
    const int64_t columns = width - std::abs(right);
    if (columns <= 0) return;

    const auto at = [&](const Array& image, int64_t plane, int64_t row, int64_t column) {
      const int64_t element = (plane * height + row) * width + column;
      return static_cast<std::byte*>(image.data) + static_cast<std::size_t>(element) * size_of(image.dtype);
    };
    const int64_t first = std::max<int64_t>(down, 0);
    const int64_t last = std::min(height, height + down);
    for (int64_t plane = 0; plane < planes; ++plane) {
      for (int64_t row = first; row < last; ++row) {
        std::memcpy(at(out, plane, row, std::max<int64_t>(right, 0)),
                    at(in, plane, row - down, std::max<int64_t>(-right, 0)),
                    static_cast<std::size_t>(columns) * size_of(in.dtype));
      }
    }
  }

 private:
  RandomShiftParams params_;
};

TENON_COMPONENT(RandomShift, RandomShiftParams, "random_shift",
                "Moves an image by a random number of pixels on both axes and fills with zeros")

}  // namespace tenon::transforms
