// A transform that masks a random square of an image (DeVries and Taylor, arXiv:1708.04552).
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <tenon/components/transform.hpp>
#include <tenon/registration.hpp>

namespace {

struct CutoutParams {
  std::string field = "image";
  int64_t size = 2;
  double probability = 1.0;

  TENON_PARAMS(CutoutParams,  //
               tenon::field(&CutoutParams::field, "field", "The field to mask, of the shape [C, H, W]"),
               tenon::field(&CutoutParams::size, "size", "Side of the masked square, pixels").min(1),
               tenon::field(&CutoutParams::probability, "probability", "How often a sample is masked").min(0).max(1))
};

/// Zeroes a square whose centre is uniform over the image, in all channels. The part outside of the image is cut off.
class Cutout final : public tenon::Transform {
 public:
  explicit Cutout(const CutoutParams& params) : params_(params) {}

  static tenon::Ports ports() {
    return {.in = {tenon::Port::of("$field", {}, {"C", "H", "W"})},
            .out = {tenon::Port::pass_all(), tenon::Port::same("$field")}};
  }
  static std::vector<std::string> traits() { return {"deterministic", "random"}; }

  tenon::Spec spec(const tenon::Spec& in) const override {
    const tenon::FieldSpec& field = in[static_cast<std::size_t>(tenon::index_of(in, params_.field))];
    if (field.shape.size() != 3) {
      throw tenon::Error(tenon::ErrorCode::kConfig,
                         "masks fields of the shape [C, H, W], but \"" + field.name + "\" is " + to_string(field),
                         "/field");
    }
    return in;
  }

  void apply(tenon::Sample& sample, tenon::Rng& random, const tenon::When& /*when*/) const override {
    if (!random.chance(params_.probability)) return;
    const tenon::Array in = sample.at(params_.field);
    const tenon::Array out = sample.allocate(params_.field, in.dtype, in.shape);
    std::memcpy(out.data, in.data, in.bytes());

    const int64_t channels = in.shape[0];
    const int64_t height = in.shape[1];
    const int64_t width = in.shape[2];
    const int64_t top = random.integer(0, height - 1) - params_.size / 2;
    const int64_t left = random.integer(0, width - 1) - params_.size / 2;
    const int64_t first_row = std::max<int64_t>(top, 0);
    const int64_t end_row = std::min(top + params_.size, height);
    const int64_t first_column = std::max<int64_t>(left, 0);
    const int64_t end_column = std::min(left + params_.size, width);
    const std::size_t pixel = tenon::size_of(in.dtype);
    auto* const bytes = static_cast<unsigned char*>(out.data);
    for (int64_t channel = 0; channel < channels; ++channel) {
      for (int64_t row = first_row; row < end_row; ++row) {
        const auto start = static_cast<std::size_t>((channel * height + row) * width + first_column);
        std::memset(bytes + start * pixel, 0, static_cast<std::size_t>(end_column - first_column) * pixel);
      }
    }
  }

 private:
  CutoutParams params_;
};

}  // namespace

TENON_COMPONENT(Cutout, CutoutParams, "cutout", "Masks a random square of the image")
