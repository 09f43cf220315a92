// The two passes of resizing. The horizontal one works on blocks of sixteen rows, turned so that they lie side by side:
// every number of channels and every scale then takes the same few instructions.
#include <support/resample.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include <support/kernels.hpp>

namespace tenon::image_transforms {
namespace {

double value_of(Filter filter, double a, double x) {
  x = std::abs(x);
  if (filter == Filter::kBilinear) return x < 1 ? 1 - x : 0;
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// The weights of one axis, in memory that is used again: doubles, or whole numbers of 22 bits behind the point.
template <class Weight>
class Axis {
 public:
  void prepare(int64_t in, int64_t out, Filter filter, bool antialias) {
    const double scale = static_cast<double>(in) / static_cast<double>(out);
    const double widened = antialias ? std::max(scale, 1.0) : 1.0;
    const double support = (filter == Filter::kBilinear ? 1.0 : 2.0) * widened;
    const double narrowed = 1.0 / widened;
    const double a = antialias ? -0.5 : -0.75;
    stride_ = static_cast<int64_t>(std::ceil(support)) * 2 + 1;
    const auto outputs = static_cast<std::size_t>(out);
    first_.resize(outputs);
    count_.resize(outputs);
    weights_.assign(outputs * static_cast<std::size_t>(stride_), 0);
    exact_.resize(static_cast<std::size_t>(stride_));
    for (std::size_t i = 0; i < outputs; ++i) {
      const double centre = (static_cast<double>(i) + 0.5) * scale;
      const auto begin = static_cast<int64_t>(std::floor(centre - support + 0.5));
      const auto end = static_cast<int64_t>(std::floor(centre + support + 0.5));
      const int64_t first = std::clamp<int64_t>(begin, 0, in - 1);
      const int64_t count = std::clamp<int64_t>(end, first + 1, in) - first;
      std::fill_n(exact_.begin(), count, 0.0);
      double sum = 0;
      for (int64_t k = begin; k < end; ++k) {
        if (antialias && (k < 0 || k >= in)) continue;
        const double weight = value_of(filter, a, (static_cast<double>(k) - centre + 0.5) * narrowed);
        exact_[static_cast<std::size_t>(std::clamp(k, first, first + count - 1) - first)] += weight;
        sum += weight;
      }
      Weight* const weights = weights_.data() + i * static_cast<std::size_t>(stride_);
      for (int64_t k = 0; k < count; ++k) {
        const double weight = exact_[static_cast<std::size_t>(k)];
        weights[k] = stored(sum == 0 ? weight : weight / sum);
      }
      first_[i] = static_cast<int32_t>(first);
      count_[i] = static_cast<int32_t>(count);
    }
  }

  [[nodiscard]] Taps taps() const {
    return {first_.data(), count_.data(), weights_.data(), stride_, static_cast<int64_t>(first_.size())};
  }

  /// The first input of an output, and the weights from there on.
  [[nodiscard]] int64_t first(int64_t output) const { return first_[static_cast<std::size_t>(output)]; }
  [[nodiscard]] std::span<const Weight> weights(int64_t output) const {
    return {weights_.data() + output * stride_, static_cast<std::size_t>(count_[static_cast<std::size_t>(output)])};
  }

 private:
  /// Whole numbers are the nearest ones, halves away from zero.
  static Weight stored(double weight) {
    if constexpr (std::is_same_v<Weight, double>) return weight;
    return static_cast<Weight>((weight < 0 ? -0.5 : 0.5) + weight * (1 << kWeightBits));
  }

  int64_t stride_ = 0;
  std::vector<int32_t> first_;
  std::vector<int32_t> count_;
  std::vector<Weight> weights_;
  std::vector<double> exact_;
};

/// Memory of one thread.
struct Scratch {
  Axis<int32_t> horizontal;
  Axis<int32_t> vertical;
  std::vector<uint8_t> block;
  std::vector<uint8_t> resampled;
  std::vector<uint8_t> between;
};

void resample_rows(const View& in, const Canvas& out, const Taps& taps, Scratch& scratch) {
  const Kernels& kernel = kernels();
  scratch.block.resize(static_cast<std::size_t>(in.row_bytes() * kLanes));
  scratch.resampled.resize(static_cast<std::size_t>(out.row_bytes() * kLanes));
  for (int64_t top = 0; top < in.height; top += kLanes) {
    const int64_t lanes = std::min(kLanes, in.height - top);
    std::array<const uint8_t*, kLanes> from{};
    std::array<uint8_t*, kLanes> to{};
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t y = top + std::min(i, lanes - 1);
      from[static_cast<std::size_t>(i)] = in.row(y);
      to[static_cast<std::size_t>(i)] = out.row(y);
    }
    kernel.gather(from.data(), in.row_bytes(), scratch.block.data());
    kernel.resample_block(scratch.block.data(), in.channels, taps, scratch.resampled.data());
    kernel.scatter(scratch.resampled.data(), out.row_bytes(), to.data(), lanes);
  }
}

void resample_columns(const View& in, const Canvas& out, const Taps& taps) {
  const Kernels& kernel = kernels();
  for (int64_t y = 0; y < out.height; ++y) {
    kernel.resample_row(in.row(taps.first[y]), in.stride, taps.weights + y * taps.stride, taps.count[y],
                        out.row_bytes(), out.row(y));
  }
}

}  // namespace

void resample(const View& in, const Canvas& out, Filter filter, bool antialias) {
  thread_local Scratch scratch;
  const bool horizontal = in.width != out.width;
  const bool vertical = in.height != out.height;
  if (!horizontal && !vertical) {
    for (int64_t y = 0; y < in.height; ++y) {
      std::memcpy(out.row(y), in.row(y), static_cast<std::size_t>(in.row_bytes()));
    }
    return;
  }
  View between = in;
  if (horizontal) {
    Canvas target = out;
    if (vertical) {
      scratch.between.resize(static_cast<std::size_t>(in.height * out.row_bytes()));
      target = {scratch.between.data(), in.height, out.width, in.channels, out.row_bytes()};
    }
    scratch.horizontal.prepare(in.width, out.width, filter, antialias);
    resample_rows(in, target, scratch.horizontal.taps(), scratch);
    between = target;
  }
  if (vertical) {
    scratch.vertical.prepare(in.height, out.height, filter, antialias);
    resample_columns(between, out, scratch.vertical.taps());
  }
}

void resample(const View16& in, const Canvas16& out, Filter filter, bool antialias) {
  thread_local Axis<double> horizontal;
  thread_local Axis<double> vertical;
  thread_local std::vector<double> row;
  horizontal.prepare(in.width, out.width, filter, antialias);
  vertical.prepare(in.height, out.height, filter, antialias);
  for (int64_t y = 0; y < out.height; ++y) {
    row.assign(static_cast<std::size_t>(in.row_elements()), 0);
    const int32_t* from = in.row(vertical.first(y));
    for (const double weight : vertical.weights(y)) {
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += weight * from[i];
      from += in.stride;
    }
    int32_t* to = out.row(y);
    for (int64_t x = 0; x < out.width; ++x) {
      const double* const first = row.data() + horizontal.first(x) * in.channels;
      for (int64_t c = 0; c < in.channels; ++c) {
        double sum = 0.5;  // what comes out is cut off
        const double* value = first + c;
        for (const double weight : horizontal.weights(x)) {
          sum += weight * *value;
          value += in.channels;
        }
        *to++ = static_cast<int32_t>(std::clamp<double>(sum, 0, kWhite16));
      }
    }
  }
}

}  // namespace tenon::image_transforms
