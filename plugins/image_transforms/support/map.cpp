// Windows, sizes and flips by our own loops, warps by OpenCV.
#include <support/map.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include <opencv2/imgproc.hpp>

#include <support/kernels.hpp>
#include <support/opencv.hpp>
#include <support/resample.hpp>

namespace tenon::image_transforms {
namespace {

/// Memory of one thread for an image between two steps; `slot` tells steps of one call apart.
template <class T>
Plane<T> scratch(int slot, const Extent& extent, int64_t channels) {
  thread_local std::array<std::vector<T>, 2> memory;
  std::vector<T>& values = memory.at(static_cast<std::size_t>(slot));
  const auto size = static_cast<std::size_t>(extent.height * extent.width * channels);
  if (values.size() < size) values.resize(size);
  return {values.data(), extent.height, extent.width, channels, extent.width * channels};
}

template <class T>
bool within(const Region& window, const Plane<const T>& image) {
  return window.top >= 0 && window.left >= 0 && window.top + window.height <= image.height &&
         window.left + window.width <= image.width;
}

/// Rows of small images are too short for a call.
void copy_bytes(const uint8_t* from, int64_t count, uint8_t* to) {
  constexpr int64_t kStep = 16;
  if (count < kStep || count > 16 * kStep) {
    std::memcpy(to, from, static_cast<std::size_t>(count));
    return;
  }
  for (int64_t at = 0; at + kStep <= count; at += kStep) std::memcpy(to + at, from + at, kStep);
  std::memcpy(to + count - kStep, from + count - kStep, kStep);
}

template <class T>
void copy_elements(const T* from, int64_t count, T* to) {
  copy_bytes(reinterpret_cast<const uint8_t*>(from), count * static_cast<int64_t>(sizeof(T)),
             reinterpret_cast<uint8_t*>(to));
}

template <class T>
void copy(const Plane<const T>& in, const Plane<T>& out) {
  for (int64_t y = 0; y < in.height; ++y) copy_elements(in.row(y), in.row_elements(), out.row(y));
}

/// Pixels of one colour: one value for all channels, or one for each.
template <class T>
class Fill {
 public:
  Fill(std::span<const int64_t> values, int64_t channels) : channels_(channels), alike_(values.size() == 1) {
    for (std::size_t c = 0; c < values_.size(); ++c) {
      values_[c] = static_cast<T>(values[std::min(c, values.size() - 1)]);
    }
  }

  void pixels(T* to, int64_t count) const {
    if (count <= 0) return;
    if (alike_) {
      std::fill_n(to, count * channels_, values_[0]);
      return;
    }
    for (int64_t i = 0; i < count; ++i) std::copy_n(values_.data(), channels_, to + i * channels_);
  }

 private:
  std::array<T, 4> values_{};
  int64_t channels_;
  bool alike_;
};

/// The coordinate within [0, size) that stands for one beyond it.
int64_t reflected(int64_t at, int64_t size, Padding padding) {
  if (at >= 0 && at < size) return at;
  if (padding == Padding::kEdge || size == 1) return std::clamp<int64_t>(at, 0, size - 1);
  const int64_t period = padding == Padding::kReflect ? 2 * (size - 1) : 2 * size;
  at = ((at % period) + period) % period;
  return at < size ? at : padding == Padding::kReflect ? period - at : period - 1 - at;
}

template <class T>
void copy_window(const Plane<const T>& in, const Region& window, Padding padding, const Fill<T>& fill,
                 const Plane<T>& out) {
  if (padding != Padding::kConstant && !in.empty()) {
    for (int64_t y = 0; y < window.height; ++y) {
      const T* const from = in.row(reflected(window.top + y, in.height, padding));
      T* to = out.row(y);
      for (int64_t x = 0; x < window.width; ++x, to += in.channels) {
        std::copy_n(from + reflected(window.left + x, in.width, padding) * in.channels, in.channels, to);
      }
    }
    return;
  }
  const int64_t left = std::clamp<int64_t>(-window.left, 0, window.width);
  const int64_t right = std::clamp<int64_t>(in.width - window.left, left, window.width);
  for (int64_t y = 0; y < window.height; ++y) {
    const int64_t from = window.top + y;
    T* const to = out.row(y);
    if (from < 0 || from >= in.height || right == left) {
      fill.pixels(to, window.width);
      continue;
    }
    fill.pixels(to, left);
    copy_elements(in.row(from) + (window.left + left) * in.channels, (right - left) * in.channels,
                  to + left * in.channels);
    fill.pixels(to + right * in.channels, window.width - right);
  }
}

void flip_row(const Kernels& kernel, const uint8_t* from, int64_t width, int64_t channels, uint8_t* to) {
  kernel.flip_row(from, width, channels, to);
}

void flip_row(const Kernels& /*kernel*/, const int32_t* from, int64_t width, int64_t channels, int32_t* to) {
  for (int64_t x = width; x-- > 0; to += channels) std::copy_n(from + x * channels, channels, to);
}

template <class T>
void flip(const Plane<const T>& in, bool horizontal, bool vertical, const Plane<T>& out) {
  const Kernels& kernel = kernels();
  for (int64_t y = 0; y < in.height; ++y) {
    const T* const from = in.row(vertical ? in.height - 1 - y : y);
    if (horizontal) {
      flip_row(kernel, from, in.width, in.channels, out.row(y));
    } else {
      copy_elements(from, in.row_elements(), out.row(y));
    }
  }
}

/// The input pixel whose centre lies nearest, for each output pixel.
std::vector<int64_t> nearest(int64_t in, int64_t out) {
  std::vector<int64_t> from(static_cast<std::size_t>(out));
  const double scale = static_cast<double>(in) / static_cast<double>(out);
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = std::min(static_cast<int64_t>((static_cast<double>(i) + 0.5) * scale), in - 1);
  }
  return from;
}

template <class T>
void resize_nearest(const Plane<const T>& in, const Plane<T>& out) {
  const std::vector<int64_t> rows = nearest(in.height, out.height);
  const std::vector<int64_t> columns = nearest(in.width, out.width);
  for (int64_t y = 0; y < out.height; ++y) {
    const T* const from = in.row(rows[static_cast<std::size_t>(y)]);
    T* to = out.row(y);
    for (const int64_t column : columns) {
      for (int64_t c = 0; c < in.channels; ++c) *to++ = from[column * in.channels + c];
    }
  }
}

/// Calls `change` with an image and memory for what it makes of it, both as OpenCV takes them.
template <class Change>
void by_opencv(const View& in, const Canvas& out, const Change& change) {
  with_opencv([&] {
    cv::Mat target = mat(out);
    change(mat(in), target);
  });
}

/// OpenCV has no loops for int32; all values of 16 bits are in uint16.
template <class Change>
void by_opencv(const View16& in, const Canvas16& out, const Change& change) {
  with_opencv([&] {
    cv::Mat source;
    mat(in).convertTo(source, CV_16U);
    cv::Mat target(static_cast<int>(out.height), static_cast<int>(out.width), source.type());
    change(source, target);
    cv::Mat result = mat(out);
    target.convertTo(result, CV_32S);
  });
}

template <class T>
void resize(const Plane<const T>& in, const Style& style, const Plane<T>& out) {
  if (in.extent() == out.extent()) return copy(in, out);
  if (style.interpolation == Interpolation::kNearest) return resize_nearest(in, out);
  if (style.interpolation != Interpolation::kArea) {
    const Filter filter = style.interpolation == Interpolation::kBicubic ? Filter::kBicubic : Filter::kBilinear;
    return resample(in, out, filter, style.antialias);
  }
  by_opencv(in, out, [](const cv::Mat& source, cv::Mat& target) {
    cv::resize(source, target, target.size(), 0, 0, cv::INTER_AREA);
  });
}

template <class T>
void warp(const Plane<const T>& in, const Matrix& matrix, int how, const Fill<T>& fill, const Plane<T>& out) {
  constexpr int64_t kLongest = std::numeric_limits<int16_t>::max() - 1;
  if (std::max({in.height, in.width, out.height, out.width}) > kLongest) {
    throw Error(ErrorCode::kData, "an image of " + std::to_string(in.height) + " x " + std::to_string(in.width) +
                                      " pixels cannot be warped: the longest side is " + std::to_string(kLongest));
  }
  std::array<T, 4> pixel{};
  fill.pixels(pixel.data(), 1);
  const cv::Scalar colour(pixel[0], pixel[1], pixel[2], pixel[3]);
  by_opencv(in, out, [&](const cv::Mat& source, cv::Mat& target) {
    cv::Mat map(3, 3, CV_64F);
    std::copy(matrix.begin(), matrix.end(), map.ptr<double>());
    const int flags = how | cv::WARP_INVERSE_MAP;
    if (matrix[6] == 0 && matrix[7] == 0 && matrix[8] == 1) {
      cv::warpAffine(source, target, map.rowRange(0, 2), target.size(), flags, cv::BORDER_CONSTANT, colour);
    } else {
      cv::warpPerspective(source, target, map, target.size(), flags, cv::BORDER_CONSTANT, colour);
    }
  });
}

template <class T>
void draw(const Plane<const T>& in, const Map& map, const Style& style, const Fill<T>& fill, const Plane<T>& out) {
  if (out.empty()) return;
  if (map.warp) {
    return warp(in, *map.warp, style.warp == WarpInterpolation::kBilinear ? cv::INTER_LINEAR : cv::INTER_NEAREST, fill,
                out);
  }
  const bool flips = map.flip_horizontal || map.flip_vertical;
  const bool resizes = Extent{map.window.height, map.window.width} != map.out;
  Plane<const T> seen = in;
  if (within(map.window, in)) {
    seen = in.part(map.window);
  } else {
    const Plane<T> window = resizes || flips ? scratch<T>(0, {map.window.height, map.window.width}, in.channels) : out;
    copy_window(in, map.window, style.padding, fill, window);
    if (!resizes && !flips) return;
    seen = window;
  }
  if (resizes) {
    const Plane<T> resized = flips ? scratch<T>(1, map.out, in.channels) : out;
    resize(seen, style, resized);
    if (!flips) return;
    seen = resized;
  }
  if (flips) return flip(seen, map.flip_horizontal, map.flip_vertical, out);
  copy(seen, out);
}

template <class T>
void draw_filled(const Plane<const T>& in, const Map& map, const Style& style, const Plane<T>& out) {
  if (style.fill.size() > 1 && static_cast<int64_t>(style.fill.size()) != in.channels) {
    throw Error(ErrorCode::kData, "fill has " + std::to_string(style.fill.size()) + " elements, but the image has " +
                                      std::to_string(in.channels) + " channels");
  }
  draw(in, map, style, Fill<T>(style.fill, in.channels), out);
}

}  // namespace

void draw_image(const View& in, const Map& map, const Style& style, const Canvas& out) {
  draw_filled(in, map, style, out);
}

void draw_image(const View16& in, const Map& map, const Style& style, const Canvas16& out) {
  draw_filled(in, map, style, out);
}

void draw_mask(const View& in, const Map& map, const Style& style, const Canvas& out) {
  Style nearest_style;
  nearest_style.interpolation = Interpolation::kNearest;
  nearest_style.warp = WarpInterpolation::kNearest;
  nearest_style.padding = style.padding;
  const std::array<int64_t, 1> fill{style.mask_fill};
  draw(in, map, nearest_style, Fill<uint8_t>(fill, in.channels), out);
}

Matrix product(const Matrix& a, const Matrix& b) noexcept {
  Matrix out{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) out[i * 3 + j] += a[i * 3 + k] * b[k * 3 + j];
    }
  }
  return out;
}

std::optional<Matrix> inverse(const Matrix& m) noexcept {
  const Matrix cofactors{m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                         m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                         m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
  const double determinant = m[0] * cofactors[0] + m[1] * cofactors[3] + m[2] * cofactors[6];
  if (determinant == 0 || !std::isfinite(determinant)) return std::nullopt;
  Matrix out = cofactors;
  for (double& each : out) each /= determinant;
  return out;
}

namespace {

/// The smallest upright box around the corners of a warped one; nothing where that is no box, or the map takes a corner
/// to infinity.
std::optional<std::array<double, 4>> warped(const std::array<double, 4>& box, const Matrix& out_to_in) {
  const bool finite = std::all_of(box.begin(), box.end(), [](double edge) { return std::isfinite(edge); });
  if (!finite || box[2] <= box[0] || box[3] <= box[1]) return std::nullopt;
  const std::optional<Matrix> forward = inverse(out_to_in);
  if (!forward) return std::nullopt;
  const Matrix& m = *forward;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::array<double, 4> out{kInfinity, kInfinity, -kInfinity, -kInfinity};
  for (const double x_edge : {box[0], box[2]}) {
    for (const double y_edge : {box[1], box[3]}) {
      const double x = x_edge - 0.5;  // from edges to centres of pixels
      const double y = y_edge - 0.5;
      const double w = m[6] * x + m[7] * y + m[8];
      if (!(w > 0)) return std::nullopt;
      const double to_x = (m[0] * x + m[1] * y + m[2]) / w + 0.5;
      const double to_y = (m[3] * x + m[4] * y + m[5]) / w + 0.5;
      out = {std::min(out[0], to_x), std::min(out[1], to_y), std::max(out[2], to_x), std::max(out[3], to_y)};
    }
  }
  return out;
}

}  // namespace

MappedBox map_box(const Box& box, const Map& map) {
  std::array<double, 4> moved{box[0], box[1], box[2], box[3]};
  if (map.warp) {
    const auto around = warped(moved, *map.warp);
    if (!around) return {};
    moved = *around;
  } else {
    const double across = static_cast<double>(map.out.width) / static_cast<double>(map.window.width);
    const double down = static_cast<double>(map.out.height) / static_cast<double>(map.window.height);
    moved = {(moved[0] - static_cast<double>(map.window.left)) * across,
             (moved[1] - static_cast<double>(map.window.top)) * down,
             (moved[2] - static_cast<double>(map.window.left)) * across,
             (moved[3] - static_cast<double>(map.window.top)) * down};
    const auto width = static_cast<double>(map.out.width);
    const auto height = static_cast<double>(map.out.height);
    if (map.flip_horizontal) moved = {width - moved[2], moved[1], width - moved[0], moved[3]};
    if (map.flip_vertical) moved = {moved[0], height - moved[3], moved[2], height - moved[1]};
  }
  const auto width = static_cast<double>(map.out.width);
  const auto height = static_cast<double>(map.out.height);
  const std::array<double, 4> seen{std::clamp(moved[0], 0.0, width), std::clamp(moved[1], 0.0, height),
                                   std::clamp(moved[2], 0.0, width), std::clamp(moved[3], 0.0, height)};
  MappedBox out;
  for (std::size_t i = 0; i < 4; ++i) out.box[i] = static_cast<float>(seen[i]);
  // False for what is no box as well: edges in the wrong order, or not finite.
  if (seen[2] > seen[0] && seen[3] > seen[1]) {
    out.visible = (seen[2] - seen[0]) * (seen[3] - seen[1]) / ((moved[2] - moved[0]) * (moved[3] - moved[1]));
  }
  return out;
}

}  // namespace tenon::image_transforms
