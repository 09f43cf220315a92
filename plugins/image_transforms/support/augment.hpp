// The operations that rand_augment and trivial_augment draw from.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <support/joint.hpp>
#include <support/map.hpp>
#include <tenon/params.hpp>
#include <tenon/random.hpp>

namespace tenon::image_transforms {

enum class Operation {
  kIdentity,
  kShearX,
  kShearY,
  kTranslateX,
  kTranslateY,
  kRotate,
  kBrightness,
  kColor,
  kContrast,
  kSharpness,
  kPosterize,
  kSolarize,
  kAutocontrast,
  kEqualize
};
TENON_ENUM(Operation, "identity", "shear_x", "shear_y", "translate_x", "translate_y", "rotate", "brightness", "color",
           "contrast", "sharpness", "posterize", "solarize", "autocontrast", "equalize")

[[nodiscard]] std::vector<Operation> all_operations();

/// How far operations go at full strength.
struct Reach {
  double shear = 0;             ///< Tangent of the angle.
  double translate_share = 0;   ///< Share of the image's width or height,
  double translate_pixels = 0;  ///< plus so many pixels.
  double degrees = 0;
  double factor = 0;  ///< Distance from 1 of factors of brightness, colour, contrast, sharpness.
  double bits = 0;    ///< Bits that posterize takes away.
};

/// One operation on one sample.
struct Step {
  Operation operation = Operation::kIdentity;
  double amount = 0;  ///< Share of Reach: 0 to 1, with the sign where there are two directions.
};

/// True for operations of two directions: half of the time, they go the other way.
[[nodiscard]] bool has_direction(Operation operation) noexcept;

/// Fills the amount in: `level` is 0 to 1. One draw where there are two directions.
[[nodiscard]] Step step_of(Operation operation, double level, Rng& random);

/// Does the steps one after the other to image, masks and boxes. What nothing changes is not written.
void apply_steps(Sample& sample, const Joint& joint, std::span<const Step> steps, const Reach& reach,
                 const Style& style);

}  // namespace tenon::image_transforms
