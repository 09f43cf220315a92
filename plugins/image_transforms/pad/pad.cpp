// transform:pad: pixels around an image.
#include <string>

#include <support/geometric.hpp>
#include <support/padding.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct PadParams : JointParams, FillParams {
  std::vector<int64_t> padding;
  Padding padding_mode = Padding::kConstant;

  TENON_PARAMS(PadParams,
               tenon::field(&PadParams::padding, "padding",
                            "Pixels that are added: on all sides, or [left and right, top and bottom], or [left, top, "
                            "right, bottom]")
                   .min(0)
                   .max(kLargestSide)
                   .min_items(1)
                   .required(),
               tenon::field(&PadParams::padding_mode, "padding_mode", "What is added"), TENON_FILL_FIELDS(PadParams),
               TENON_MOVED_FIELDS(PadParams))
};

class Pad final : public Geometric {
 public:
  explicit Pad(const PadParams& params)
      : Geometric(params, filled(params, params.padding_mode), false), sides_(sides_of(params.padding)) {}

  static Ports ports() { return joint_ports(SizeAxes{"h", "w"}, false); }
  static std::vector<std::string> traits() { return {"deterministic"}; }
  static Example example() { return joint_example(R"("padding": [2, 1])", false); }

  /// Fixed sizes stay fixed.
  [[nodiscard]] Spec spec(const Spec& in) const override {
    Spec out = Geometric::spec(in);
    for (FieldSpec& field : out) {
      const FieldSpec& before = *find(in, field.name);
      for (std::size_t axis = 0; axis < field.shape.size() && axis < 2; ++axis) {
        if (field.shape[axis] != before.shape[axis] && before.shape[axis].fixed()) {
          field.shape[axis] =
              before.shape[axis].size + (axis == 0 ? sides_.top + sides_.bottom : sides_.left + sides_.right);
        }
      }
    }
    return out;
  }

 protected:
  [[nodiscard]] std::optional<std::array<Dim, 2>> size() const override { return {{Dim("h"), Dim("w")}}; }

  [[nodiscard]] Map plan(const Extent& extent, Rng& /*random*/, const When& /*when*/) const override {
    return Map::cut({-sides_.top, -sides_.left, extent.height + sides_.top + sides_.bottom,
                     extent.width + sides_.left + sides_.right});
  }

 private:
  Sides sides_;
};

TENON_COMPONENT(Pad, PadParams, "pad", "Adds pixels around an image")

}  // namespace tenon::image_transforms
