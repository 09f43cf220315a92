// Labels of mixtures, and how much of each sample is in them.
#include <support/mixing.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <tenon/error.hpp>

namespace tenon::image_transforms {
namespace {

/// A draw of the gamma distribution of shape `alpha`: Marsaglia and Tsang, "A simple method for generating gamma
/// variables", ACM TOMS 2000, with their step from alpha + 1 to smaller ones.
double draw_gamma(double alpha, Rng& random) {
  if (alpha < 1) {
    const double larger = draw_gamma(alpha + 1, random);
    return larger * std::pow(1 - random.uniform(), 1 / alpha);
  }
  const double d = alpha - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normal();
    const double cube = std::pow(1 + c * x, 3);
    if (cube <= 0) continue;
    if (std::log(1 - random.uniform()) < 0.5 * x * x + d - d * cube + d * std::log(cube)) return d * cube;
  }
}

}  // namespace

double draw_beta(double alpha, Rng& random) {
  const double first = draw_gamma(alpha, random);
  const double second = draw_gamma(alpha, random);
  // Both are lost to rounding for the smallest of parameters, where all is one sample or the other.
  if (first + second == 0) return random.chance(0.5) ? 1 : 0;
  return first / (first + second);
}

Spec Mixing::spec(const Spec& in) const {
  require_image(in, params_.image);
  Spec out = in;
  FieldSpec& label = out[static_cast<std::size_t>(index_of(in, params_.label))];
  const bool number = label.dtype == Dtype::kInt64 && label.shape.empty();
  const bool shares = label.dtype == Dtype::kFloat32 && label.shape.size() == 1 &&
                      (!label.shape[0].fixed() || label.shape[0].size == params_.classes);
  if (!number && !shares) {
    throw Error(ErrorCode::kConfig,
                "\"" + label.name + "\" is " + to_string(label) + ", but labels are int64[], or float32[" +
                    std::to_string(params_.classes) + "] where they are mixed already",
                "/label");
  }
  label = {label.name, Dtype::kFloat32, {params_.classes}};
  return out;
}

void Mixing::apply_with(Sample& sample, std::span<const Sample* const> others, Rng& random, const When& when) const {
  const bool mixes = random.chance(params_.p * strength(params_.grow, when)) && !others.empty();
  double share = 1;
  if (mixes) {
    const View first = image_of(sample.at(params_.image), params_.image);
    const View second = image_of(others[0]->at(params_.image), params_.image);
    if (first.extent() != second.extent() || first.channels != second.channels) {
      const auto spelled = [](const View& view) {
        return std::to_string(view.height) + " x " + std::to_string(view.width) + " x " + std::to_string(view.channels);
      };
      throw Error(ErrorCode::kData, "images of " + spelled(first) + " and " + spelled(second) +
                                        " cannot be mixed: resize or crop them to one size before");
    }
    share = draw_beta(params_.alpha, random);
    share = mix(first, second, share, random, allocate_image(sample, params_.image, first.extent(), first.channels));
  }
  const std::array<int64_t, 1> shape{params_.classes};
  std::vector<float> shares(static_cast<std::size_t>(params_.classes), 0.0F);
  add_label(sample, share, shares);
  if (mixes) add_label(*others[0], 1 - share, shares);
  const std::span<float> out = sample.allocate(params_.label, Dtype::kFloat32, shape).as<float>();
  std::copy(shares.begin(), shares.end(), out.begin());
}

void Mixing::add_label(const Sample& sample, double share, std::span<float> shares) const {
  const Array label = sample.at(params_.label);
  if (label.dtype == Dtype::kFloat32) {
    const std::span<const float> given = label.as<float>();
    if (given.size() != shares.size()) {
      throw Error(ErrorCode::kData, "\"" + params_.label + "\" has " + std::to_string(given.size()) +
                                        " elements, but there are " + std::to_string(params_.classes) + " classes");
    }
    for (std::size_t i = 0; i < shares.size(); ++i) shares[i] += static_cast<float>(share) * given[i];
    return;
  }
  const std::span<const int64_t> number = label.as<int64_t>();
  if (number.size() != 1 || number[0] < 0 || number[0] >= params_.classes) {
    throw Error(ErrorCode::kData, "\"" + params_.label + "\" is " +
                                      (number.size() == 1 ? std::to_string(number[0]) : "no scalar") +
                                      ", but there are " + std::to_string(params_.classes) + " classes (0 to " +
                                      std::to_string(params_.classes - 1) + ")");
  }
  shares[static_cast<std::size_t>(number[0])] += static_cast<float>(share);
}

}  // namespace tenon::image_transforms
