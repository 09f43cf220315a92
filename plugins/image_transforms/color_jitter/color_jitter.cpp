// transform:color_jitter: brightness, contrast, saturation and hue change at random, in random order.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include <support/colour.hpp>
#include <support/colouring.hpp>
#include <support/grow.hpp>
#include <support/ranges.hpp>
#include <tenon/registration.hpp>

namespace tenon::image_transforms {

struct ColorJitterParams {
  std::string image = "image";
  std::vector<double> brightness{0};
  std::vector<double> contrast{0};
  std::vector<double> saturation{0};
  std::vector<double> hue{0};
  int64_t grow = 0;

  TENON_PARAMS(ColorJitterParams, coloured_field<ColorJitterParams>(),
               tenon::field(&ColorJitterParams::brightness, "brightness",
                            "Factor of brightness: its largest distance from 1, or [least, largest]")
                   .min(0)
                   .max(100)
                   .min_items(1),
               tenon::field(&ColorJitterParams::contrast, "contrast",
                            "Factor of contrast: its largest distance from 1, or [least, largest]")
                   .min(0)
                   .max(100)
                   .min_items(1),
               tenon::field(&ColorJitterParams::saturation, "saturation",
                            "Factor of saturation: its largest distance from 1, or [least, largest]")
                   .min(0)
                   .max(100)
                   .min_items(1),
               tenon::field(&ColorJitterParams::hue, "hue",
                            "Turn of the hue in circles: the largest in either direction, or [least, largest]")
                   .min(-0.5)
                   .max(0.5)
                   .min_items(1),
               grow_field<ColorJitterParams>())
};

class ColorJitter final : public Colouring {
 public:
  explicit ColorJitter(const ColorJitterParams& params)
      : Colouring(params.image),
        changes_{Change{&adjust_brightness, around_one(params.brightness, "/brightness"), 1},
                 Change{&adjust_contrast, around_one(params.contrast, "/contrast"), 1},
                 Change{&adjust_saturation, around_one(params.saturation, "/saturation"), 1},
                 Change{&adjust_hue, around_zero(params.hue, "/hue"), 0}},
        grow_(params.grow) {}

  /// Seven draws: three for the order, then the four factors, in the order of the parameters.
  void apply(Sample& sample, Rng& random, const When& when) const override {
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.integer(0, static_cast<int64_t>(i)))]);
    }
    std::array<double, 4> factors{};
    for (std::size_t i = 0; i < factors.size(); ++i) {
      factors[i] = narrowed(changes_[i].range, changes_[i].neutral, strength(grow_, when)).draw(random);
    }
    const View image = in(sample);
    std::optional<Canvas> to;
    for (const std::size_t i : order) {
      if (factors[i] == changes_[i].neutral) continue;
      const View from = to ? static_cast<View>(*to) : image;
      if (!to) to = out(sample, image);
      changes_[i].apply(from, factors[i], *to);
    }
  }

 private:
  struct Change {
    void (*apply)(const View& in, double factor, const Canvas& out);
    Range range;
    double neutral;
  };

  static Range around_one(const std::vector<double>& numbers, const std::string& pointer) {
    if (numbers.size() != 1) return range_of(numbers, pointer);
    return {std::max(1 - numbers[0], 0.0), 1 + numbers[0]};
  }

  std::array<Change, 4> changes_;
  int64_t grow_;
};

TENON_COMPONENT(ColorJitter, ColorJitterParams, "color_jitter",
                "Changes brightness, contrast, saturation and hue at random, in random order")

}  // namespace tenon::image_transforms
