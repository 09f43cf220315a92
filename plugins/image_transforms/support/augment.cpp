// Operations of augmentation policies, in the geometry and the units of torchvision's transforms v2.
#include <support/augment.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

#include <support/colour.hpp>
#include <support/matrices.hpp>

namespace tenon::image_transforms {
namespace {

double degrees_of_tangent(double tangent) { return std::atan(tangent) * 180 / std::numbers::pi; }

/// The map of a step that is geometric.
std::optional<Map> map_of(const Step& step, const Reach& reach, const Extent& extent) {
  Affine affine;
  const auto moved = [&](int64_t side) {
    return std::trunc(step.amount * (reach.translate_share * static_cast<double>(side) + reach.translate_pixels));
  };
  switch (step.operation) {
    case Operation::kShearX: affine.shear_x = degrees_of_tangent(step.amount * reach.shear); break;
    case Operation::kShearY: affine.shear_y = degrees_of_tangent(step.amount * reach.shear); break;
    case Operation::kTranslateX: affine.right = moved(extent.width); break;
    case Operation::kTranslateY: affine.down = moved(extent.height); break;
    case Operation::kRotate: affine.degrees = -step.amount * reach.degrees; break;
    default: return std::nullopt;
  }
  if (step.operation == Operation::kShearX || step.operation == Operation::kShearY) {
    // Shears leave the image's upper left corner where it is.
    affine.center_x = -static_cast<double>(extent.width) / 2;
    affine.center_y = -static_cast<double>(extent.height) / 2;
  }
  const bool still =
      affine.shear_x == 0 && affine.shear_y == 0 && affine.right == 0 && affine.down == 0 && affine.degrees == 0;
  return still ? Map::identity(extent) : Map::warped(extent, affine_matrix(affine, extent));
}

void recolour(const Step& step, const Reach& reach, const View& in, const Canvas& out) {
  const double factor = 1 + step.amount * reach.factor;
  switch (step.operation) {
    case Operation::kBrightness: return adjust_brightness(in, factor, out);
    case Operation::kColor: return adjust_saturation(in, factor, out);
    case Operation::kContrast: return adjust_contrast(in, factor, out);
    case Operation::kSharpness: return adjust_sharpness(in, factor, out);
    case Operation::kPosterize:
      return posterize(in, static_cast<int>(std::nearbyint(8 - step.amount * reach.bits)), out);
    case Operation::kSolarize: return solarize(in, 255 * (1 - step.amount), out);
    case Operation::kAutocontrast: return autocontrast(in, out);
    default: return equalize(in, out);
  }
}

}  // namespace

std::vector<Operation> all_operations() {
  std::vector<Operation> all;
  for (int i = 0; i <= static_cast<int>(Operation::kEqualize); ++i) all.push_back(static_cast<Operation>(i));
  return all;
}

bool has_direction(Operation operation) noexcept {
  return operation >= Operation::kShearX && operation <= Operation::kSharpness;
}

Step step_of(Operation operation, double level, Rng& random) {
  const bool other_way = has_direction(operation) && random.chance(0.5);
  return {operation, other_way ? -level : level};
}

void apply_steps(Sample& sample, const Joint& joint, std::span<const Step> steps, const Reach& reach,
                 const Style& style) {
  const View image = joint.image(sample);
  const Extent extent = image.extent();
  std::vector<Map> maps;
  std::array<std::vector<uint8_t>, 2> memory;
  std::size_t written = 0;
  View now = image;
  for (const Step& step : steps) {
    if (step.operation == Operation::kIdentity) continue;
    const std::optional<Map> map = map_of(step, reach, extent);
    if (map && map->is_identity(extent)) continue;
    std::vector<uint8_t>& bytes = memory[written++ % 2];  // never the one that `now` is
    bytes.resize(static_cast<std::size_t>(image.height * image.row_bytes()));
    const Canvas next{bytes.data(), image.height, image.width, image.channels, image.row_bytes()};
    if (map) {
      draw_image(now, *map, style, next);
      maps.push_back(*map);
    } else {
      recolour(step, reach, now, next);
    }
    now = next;
  }
  if (now.data != image.data) {
    const Canvas out = allocate_image(sample, joint.image_field(), extent, image.channels);
    std::memcpy(out.data, now.data, static_cast<std::size_t>(image.height * image.row_bytes()));
  }
  if (!joint.image_alone()) joint.follow(sample, extent, maps, style);
}

}  // namespace tenon::image_transforms
