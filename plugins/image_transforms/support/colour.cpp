// Most changes of colour are tables of 256 values.
#include <support/colour.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include <support/kernels.hpp>

namespace tenon::image_transforms {
namespace {

using Table = std::array<uint8_t, 256>;

uint8_t cut(float value) { return static_cast<uint8_t>(std::clamp(value, 0.0F, 255.0F)); }

int64_t colours(const View& in) { return in.channels < 3 ? 1 : 3; }

uint8_t grey_at(const uint8_t* pixel) { return static_cast<uint8_t>(grey_of(pixel[0], pixel[1], pixel[2])); }

template <class Make>
Table table(const Make& make) {
  Table values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = make(static_cast<int>(i));
  return values;
}

/// One table for all colours.
void look_up(const View& in, const Table& values, const Canvas& out) {
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* const from = in.row(y);
    uint8_t* const to = out.row(y);
    if (in.channels != 4) {
      for (int64_t i = 0; i < in.row_bytes(); ++i) to[i] = values[from[i]];
      continue;
    }
    for (int64_t x = 0; x < in.width; ++x) {
      for (int64_t c = 0; c < 3; ++c) to[x * 4 + c] = values[from[x * 4 + c]];
      to[x * 4 + 3] = from[x * 4 + 3];
    }
  }
}

/// A table for each colour, made of how often each value occurs.
template <class Make>
void look_up_each(const View& in, const Make& make, const Canvas& out) {
  using Counts = std::array<int64_t, 256>;
  std::array<Counts, 3> counts{};
  const int64_t used = colours(in);
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* const from = in.row(y);
    for (int64_t x = 0; x < in.width; ++x) {
      for (int64_t c = 0; c < used; ++c) ++counts[static_cast<std::size_t>(c)][from[x * in.channels + c]];
    }
  }
  std::array<Table, 4> tables;
  for (int64_t c = 0; c < used; ++c) tables[static_cast<std::size_t>(c)] = make(counts[static_cast<std::size_t>(c)]);
  for (int64_t c = used; c < 4; ++c) {
    tables[static_cast<std::size_t>(c)] = table([](int value) { return static_cast<uint8_t>(value); });
  }
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* const from = in.row(y);
    uint8_t* const to = out.row(y);
    for (int64_t x = 0; x < in.width; ++x) {
      for (int64_t c = 0; c < in.channels; ++c) {
        to[x * in.channels + c] = tables[static_cast<std::size_t>(c)][from[x * in.channels + c]];
      }
    }
  }
}

void copy(const View& in, const Canvas& out) {
  for (int64_t y = 0; y < in.height; ++y) {
    if (out.row(y) != in.row(y)) std::memcpy(out.row(y), in.row(y), static_cast<std::size_t>(in.row_bytes()));
  }
}

float mean_grey(const View& in) {
  int64_t sum = 0;
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* from = in.row(y);
    for (int64_t x = 0; x < in.width; ++x, from += in.channels) sum += in.channels < 3 ? *from : grey_at(from);
  }
  return static_cast<float>(static_cast<double>(sum) / static_cast<double>(in.height * in.width));
}

}  // namespace

void adjust_brightness(const View& in, double factor, const Canvas& out) {
  const auto by = static_cast<float>(factor);
  look_up(in, table([&](int value) { return cut(static_cast<float>(value) * by); }), out);
}

void adjust_contrast(const View& in, double factor, const Canvas& out) {
  const auto by = static_cast<float>(factor);
  const float grey = mean_grey(in) * static_cast<float>(1 - factor);
  look_up(in, table([&](int value) { return cut(static_cast<float>(value) * by + grey); }), out);
}

void adjust_saturation(const View& in, double factor, const Canvas& out) {
  if (in.channels < 3) return copy(in, out);
  for (int64_t y = 0; y < in.height; ++y) {
    kernels().blend_with_grey(in.row(y), in.width, in.channels, static_cast<float>(factor),
                              static_cast<float>(1 - factor), out.row(y));
  }
}

void adjust_hue(const View& in, double turn, const Canvas& out) {
  if (in.channels < 3) return copy(in, out);
  const auto sixths = static_cast<float>((turn - std::floor(turn)) * 6);
  for (int64_t y = 0; y < in.height; ++y) {
    kernels().turn_hue(in.row(y), in.width, in.channels, sixths, out.row(y));
  }
}

void adjust_sharpness(const View& in, double factor, const Canvas& out) {
  copy(in, out);
  if (in.height < 3 || in.width < 3) return;
  const auto rest = static_cast<float>(1 - factor);
  const int64_t pixel = in.channels;
  for (int64_t y = 1; y + 1 < in.height; ++y) {
    const uint8_t* const above = in.row(y - 1);
    const uint8_t* const here = in.row(y);
    const uint8_t* const below = in.row(y + 1);
    uint8_t* const to = out.row(y);
    for (int64_t i = pixel; i < in.row_bytes() - pixel; ++i) {
      const int around = above[i - pixel] + above[i] + above[i + pixel] + here[i - pixel] + here[i + pixel] +
                         below[i - pixel] + below[i] + below[i + pixel];
      const int rounded = (2 * (around + 5 * here[i]) + 13) / 26;
      const auto smooth = static_cast<float>(rounded);
      const auto value = static_cast<float>(here[i]);
      to[i] = cut(value + (smooth - value) * rest);
    }
    for (int64_t x = 0; pixel == 4 && x < in.width; ++x) to[x * 4 + 3] = here[x * 4 + 3];
  }
}

void posterize(const View& in, int bits, const Canvas& out) {
  const int mask = (0xFF << (8 - bits)) & 0xFF;
  look_up(in, table([&](int value) { return static_cast<uint8_t>(value & mask); }), out);
}

void solarize(const View& in, double threshold, const Canvas& out) {
  look_up(in, table([&](int value) { return static_cast<uint8_t>(value >= threshold ? 255 - value : value); }), out);
}

void autocontrast(const View& in, const Canvas& out) {
  look_up_each(
      in,
      [](const std::array<int64_t, 256>& counts) {
        int low = 0;
        int high = 255;
        while (low < 255 && counts[static_cast<std::size_t>(low)] == 0) ++low;
        while (high > 0 && counts[static_cast<std::size_t>(high)] == 0) --high;
        return table([&](int value) {
          return static_cast<uint8_t>(low >= high ? value
                                                  : std::clamp(value - low, 0, high - low) * 255 / (high - low));
        });
      },
      out);
}

void equalize(const View& in, const Canvas& out) {
  look_up_each(
      in,
      [](const std::array<int64_t, 256>& counts) {
        std::size_t last = 255;
        while (last > 0 && counts[last] == 0) --last;
        int64_t total = 0;
        for (const int64_t count : counts) total += count;
        const int64_t step = (total - counts[last]) / 255;
        int64_t before = 0;
        return table([&](int value) {
          if (step == 0) return static_cast<uint8_t>(value);
          const int64_t level = (before + step / 2) / step;
          before += counts[static_cast<std::size_t>(value)];
          return static_cast<uint8_t>(std::min<int64_t>(level, 255));
        });
      },
      out);
}

void grayscale(const View& in, const Canvas& out) {
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t* from = in.row(y);
    uint8_t* to = out.row(y);
    for (int64_t x = 0; x < in.width; ++x, from += in.channels, to += out.channels) {
      const uint8_t grey = in.channels < 3 ? *from : grey_at(from);
      const uint8_t alpha = in.channels == 4 ? from[3] : 255;
      for (int64_t c = 0; c < out.channels; ++c) to[c] = c == 3 ? alpha : grey;
    }
  }
}

}  // namespace tenon::image_transforms
