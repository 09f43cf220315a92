// Beta variates, partners and mixed targets.
#include <support/mixing.hpp>

#include <algorithm>
#include <cmath>

#include <ATen/ATen.h>

namespace tenon::batch_transforms {
namespace {

/// From the beta distribution with both parameters `alpha` (Cheng, "Generating beta variates with nonintegral shape
/// parameters", CACM 1978 for alpha > 1; Jöhnk 1964 otherwise). In [0, 1].
double beta(Rng& random, double alpha) {
  if (alpha == 1) return random.uniform();
  if (alpha < 1) {
    // Two powers of uniform numbers, of which the pair is taken that does not exceed 1 together; in logarithms, since
    // small parameters make both underflow.
    for (;;) {
      const double x = std::log(1 - random.uniform()) / alpha;
      const double y = std::log(1 - random.uniform()) / alpha;
      const double most = std::max(x, y);
      const double sum = most + std::log(std::exp(x - most) + std::exp(y - most));
      if (sum <= 0) return std::exp(x - sum);
    }
  }
  const double spread = std::sqrt((2 * alpha - 2) / (2 * alpha * alpha - 2 * alpha));
  const double gamma = alpha + 1 / spread;
  for (;;) {
    const double u = 1 - random.uniform();
    const double v = 1 - random.uniform();
    const double logit = spread * std::log(u / (1 - u + 1e-300));
    const double w = alpha * std::exp(logit);
    if (!std::isfinite(w)) continue;
    if (2 * alpha * std::log(2 * alpha / (alpha + w)) + gamma * logit - std::log(4) >= std::log(u * u * v)) {
      return w / (alpha + w);
    }
  }
}

/// 0 in epoch 0, 1 from epoch `grow` on, and linear between, as transforms of samples grow; 1 throughout without growth.
double strength(int64_t grow, const When& when) {
  return grow <= 0 ? 1 : std::min(1.0, static_cast<double>(when.epoch) / static_cast<double>(grow));
}

/// One-hot rows. \throws Error (kData) for a label that is no class, where the labels are on the host.
at::Tensor shares_of(const at::Tensor& labels, int64_t classes, at::ScalarType type) {
  if (labels.is_cpu()) {
    const at::Tensor contiguous = labels.contiguous();
    const auto* const values = contiguous.const_data_ptr<int64_t>();
    const int64_t* const end = values + contiguous.numel();
    const int64_t* const bad = std::find_if(values, end, [&](int64_t v) { return v < 0 || v >= classes; });
    if (bad != end) {
      throw Error(ErrorCode::kData,
                  "label " + std::to_string(*bad) + " is no class: there are " + std::to_string(classes));
    }
  }
  return at::zeros({labels.size(0), classes}, labels.options().dtype(type)).scatter_(1, labels.unsqueeze(1), 1);
}

}  // namespace

Ports Mixing::ports() {
  const std::vector<Dtype> floats{Dtype::kFloat32, Dtype::kFloat64, Dtype::kFloat16, Dtype::kBfloat16};
  return {{Port::of("$image", floats, {"N", "C", "H", "W"}), Port::of("$label", {Dtype::kInt64}, {"N"})},
          {Port::pass_all(), Port::of("$label", {Dtype::kFloat32}, {"N", "$classes"})}};
}

Spec Mixing::spec(const Spec& in) const {
  const FieldSpec& image = in[static_cast<std::size_t>(index_of(in, params_.image))];
  const bool floating = image.dtype == Dtype::kFloat32 || image.dtype == Dtype::kFloat64 ||
                        image.dtype == Dtype::kFloat16 || image.dtype == Dtype::kBfloat16;
  if (!floating || image.shape.size() != 4) {
    throw Error(ErrorCode::kConfig,
                "\"" + image.name + "\" is " + to_string(image) +
                    ", but images to mix are floating [N, C, H, W]: normalise them before the loader",
                "/image");
  }
  const FieldSpec& label = in[static_cast<std::size_t>(index_of(in, params_.label))];
  if (label.dtype != Dtype::kInt64 || label.shape.size() != 1) {
    throw Error(ErrorCode::kConfig,
                "\"" + label.name + "\" is " + to_string(label) + ", but labels to mix are int64 [N]", "/label");
  }
  Spec out = in;
  out[static_cast<std::size_t>(index_of(in, params_.label))] = {
      params_.label, Dtype::kFloat32, {label.shape[0], params_.classes}};
  return out;
}

void Mixing::apply_batch(Tensors& batch, Rng& random, const When& when) const {
  const at::Tensor& image = batch.at(params_.image);
  const at::Tensor target = shares_of(batch.at(params_.label), params_.classes, image.scalar_type());
  if (!random.chance(params_.p * strength(params_.grow, when))) return batch.set(params_.label, target);
  const Mixed mixed = mix(image, beta(random, params_.alpha), random);
  batch.set(params_.label, at::lerp(partners(target), target, mixed.share));
  batch.set(params_.image, mixed.image);
}

at::Tensor Mixing::partners(const at::Tensor& batch) { return batch.roll(-1, 0); }

}  // namespace tenon::batch_transforms
