// Images of 16 bits: they move as their upper and lower bytes do, are resized and normalised as plain arithmetic says,
// and what works on images of 8 bits alone says so.
#include <cmath>

#include <gtest/gtest.h>

#include <plugins/image_datasets/images.hpp>
#include <plugins/image_transforms/pictures.hpp>
#include <tenon/components/fitted.hpp>

namespace tenon::test {
namespace {

/// Values [height, width, channels] of 16 bits.
struct Picture16 {
  Shape shape;
  std::vector<int32_t> values;

  [[nodiscard]] int32_t at(int64_t y, int64_t x, int64_t c) const {
    return values[static_cast<std::size_t>((y * shape[1] + x) * shape[2] + c)];
  }
  friend bool operator==(const Picture16&, const Picture16&) = default;
};

Picture16 joined(const Picture& upper, const Picture& lower) {
  Picture16 picture{upper.shape(), {}};
  for (std::size_t i = 0; i < upper.bytes.size(); ++i) picture.values.push_back(upper.bytes[i] * 256 + lower.bytes[i]);
  return picture;
}

MemorySample sample_of(const Picture16& picture) {
  MemorySample sample;
  sample.set<int32_t>("image", picture.shape, picture.values);
  return sample;
}

Picture16 picture_16_of(const Array& array) {
  const std::span<const int32_t> values = array.as<int32_t>();
  return {{array.shape.begin(), array.shape.end()}, {values.begin(), values.end()}};
}

Picture16 applied(const Transform& transform, const Picture16& picture, uint64_t key = 0) {
  MemorySample sample = sample_of(picture);
  Rng random(key);
  transform.apply(sample, random, {});
  return picture_16_of(after(sample, "image"));
}

Picture16 applied(const std::string& name, const std::string& params, const Picture16& picture, uint64_t key = 0) {
  return applied(*image_transform(name, params), picture, key);
}

/// A transform, and what it is used with.
struct Use {
  std::string name;
  std::string params;
  bool filled = false;  ///< With a colour for what lies beyond.
};

const std::vector<Use>& movers() {
  static const std::vector<Use> all{
      {"center_crop", R"("height": 9, "width": 7)"},
      {"center_crop", R"("height": 31, "width": 40)", true},
      {"random_crop", R"("height": 9, "width": 7)"},
      {"random_crop", R"("height": 20, "width": 27, "padding": [3, 4])", true},
      {"random_crop", R"("height": 20, "width": 27, "padding": [30], "padding_mode": "reflect")"},
      {"random_horizontal_flip", ""},
      {"random_vertical_flip", ""},
      {"pad", R"("padding": [5, 2, 1, 9])", true},
      {"pad", R"("padding": [5, 2, 1, 9], "padding_mode": "edge")"},
      {"pad", R"("padding": [5, 2, 1, 9], "padding_mode": "symmetric")"},
      {"resize", R"("height": 11, "width": 50, "interpolation": "nearest")"},
      {"random_resized_crop", R"("height": 11, "width": 15, "interpolation": "nearest")"},
      {"random_rotation", R"("degrees": [40], "interpolation": "nearest")", true},
      {"random_affine", R"("degrees": [10], "scale": [0.7, 1.3], "shear": [20], "interpolation": "nearest")", true},
      {"random_perspective", R"("p": 1, "interpolation": "nearest")", true},
  };
  return all;
}

std::string params_of(const Use& use, const std::string& fill) {
  std::string params = use.params;
  if (use.filled) params += R"(, "fill": )" + fill;
  return "{" + params + "}";
}

TEST(Depth, PixelsOf16BitsMoveAsTheirUpperAndLowerBytesDo) {
  for (const Use& use : movers()) {
    for (const bool by_channel : {false, true}) {
      for (const int64_t channels : {1, 3, 4}) {
        if (by_channel && channels != 3) continue;
        // 18 · 256 + 52 = 4660, and so on.
        const auto transform = image_transform(use.name, params_of(use, by_channel ? "[4660, 65535, 7]" : "[4660]"));
        const auto upper = image_transform(use.name, params_of(use, by_channel ? "[18, 255, 0]" : "[18]"));
        const auto lower = image_transform(use.name, params_of(use, by_channel ? "[52, 255, 7]" : "[52]"));
        for (uint64_t key = 0; key < 8; ++key) {
          const Picture above = noise(20, 27, channels, 2 * key);
          const Picture below = noise(20, 27, channels, 2 * key + 1);
          EXPECT_EQ(applied(*transform, joined(above, below), key),
                    joined(test::applied(*upper, above, key), test::applied(*lower, below, key)))
              << use.name << " " << use.params << ", " << channels << " channels, key " << key;
        }
      }
    }
  }
}

TEST(Depth, ValuesThatOnlyMoveAreKeptWhateverTheyAre) {
  const Picture16 in{{1, 3, 1}, {-5, 70000, 1 << 30}};
  EXPECT_EQ(applied("random_horizontal_flip", R"({"p": 1})", in).values, (std::vector<int32_t>{1 << 30, 70000, -5}));
  EXPECT_EQ(applied("pad", R"({"padding": [1, 0]})", in).values, (std::vector<int32_t>{0, -5, 70000, 1 << 30, 0}));
}

TEST(Depth, MasksAndBoxesFollowAnImageOf16Bits) {
  MemorySample sample = sample_of(joined(noise(6, 8, 3, 1), noise(6, 8, 3, 2)));
  const Picture mask = noise(6, 8, 1, 3);
  sample.set<uint8_t>("mask", {6, 8}, mask.bytes);
  sample.set<float>("boxes", {1, 4}, {1, 2, 4, 5});
  Rng random(1);
  const auto transform = image_transform("center_crop", R"({"height": 4, "width": 4, "masks": ["mask"],
                                                            "boxes": "boxes"})");
  EXPECT_EQ(to_string(transform->spec(sample.fields())[0]), "int32[4, 4, 3]");
  transform->apply(sample, random, {});
  EXPECT_EQ(sample.written<uint8_t>("mask"), test::applied("center_crop", R"({"height": 4, "width": 4})", mask).bytes);
  EXPECT_EQ(sample.written<float>("boxes"), (std::vector<float>{0, 1, 2, 4}));
}

// ---- sizes ----------------------------------------------------------------------------------------------------------

double kernel(bool bicubic, double a, double x) {
  x = std::abs(x);
  if (!bicubic) return std::max(0.0, 1 - x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

/// One axis of one line, by all of its pixels, those beyond repeated where there is no antialias.
std::vector<double> line(const std::vector<double>& in, int64_t out, bool bicubic, bool antialias) {
  const auto length = static_cast<int64_t>(in.size());
  const double scale = static_cast<double>(length) / static_cast<double>(out);
  const double wide = antialias ? std::max(scale, 1.0) : 1.0;
  std::vector<double> made;
  for (int64_t i = 0; i < out; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    double value = 0;
    double sum = 0;
    const int64_t beyond = antialias ? 0 : 3;
    for (int64_t k = -beyond; k < length + beyond; ++k) {
      const double weight = kernel(bicubic, antialias ? -0.5 : -0.75, (static_cast<double>(k) + 0.5 - centre) / wide);
      value += weight * in[static_cast<std::size_t>(std::clamp<int64_t>(k, 0, length - 1))];
      sum += weight;
    }
    made.push_back(value / sum);
  }
  return made;
}

/// What one channel becomes, in numbers that are not rounded: [height][width].
std::vector<std::vector<double>> resized(const Picture16& in, int64_t c, int64_t height, int64_t width, bool bicubic,
                                         bool antialias) {
  std::vector<std::vector<double>> rows;
  for (int64_t y = 0; y < in.shape[0]; ++y) {
    std::vector<double> row;
    for (int64_t x = 0; x < in.shape[1]; ++x) row.push_back(in.at(y, x, c));
    rows.push_back(line(row, width, bicubic, antialias));
  }
  std::vector<std::vector<double>> out(static_cast<std::size_t>(height));
  for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
    std::vector<double> column;
    column.reserve(rows.size());
    for (const std::vector<double>& row : rows) column.push_back(row[x]);
    const std::vector<double> made = line(column, height, bicubic, antialias);
    for (std::size_t y = 0; y < made.size(); ++y) out[y].push_back(made[y]);
  }
  return out;
}

TEST(Depth, SizesAreTheNearestWholeNumbersToAPlainResampler) {
  Rng random(7);
  for (int i = 0; i < 80; ++i) {
    const int64_t channels = std::vector<int64_t>{1, 3, 4}[static_cast<std::size_t>(random.integer(0, 2))];
    const int64_t height = random.integer(1, 50);
    const int64_t width = random.integer(1, 50);
    const int64_t to_height = random.integer(1, 40);
    const int64_t to_width = random.integer(1, 40);
    const bool bicubic = random.chance(0.5);
    const bool antialias = random.chance(0.7);
    const uint64_t key = 2 * static_cast<uint64_t>(i);
    const Picture16 in = joined(noise(height, width, channels, key), noise(height, width, channels, key + 1));
    const std::string more = std::string(R"(, "interpolation": ")") + (bicubic ? "bicubic" : "bilinear") +
                             R"(", "antialias": )" + (antialias ? "true" : "false");
    const Picture16 out = applied("resize", size(to_height, to_width, more), in);
    ASSERT_EQ(out.shape, (Shape{to_height, to_width, channels}));
    for (int64_t c = 0; c < channels; ++c) {
      const auto wanted = resized(in, c, to_height, to_width, bicubic, antialias);
      for (int64_t y = 0; y < to_height; ++y) {
        for (int64_t x = 0; x < to_width; ++x) {
          const double exact = wanted[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
          ASSERT_NEAR(out.at(y, x, c), std::clamp(exact, 0.0, 65535.0), 0.5 + 1e-6)
              << height << " x " << width << " x " << channels << " to " << to_height << " x " << to_width << more;
        }
      }
    }
  }
}

TEST(Depth, SizesOfWidenedBytesAreThoseOfTheBytes) {
  Picture in = noise(40, 53, 3);
  for (uint8_t& byte : in.bytes) byte = static_cast<uint8_t>(96 + byte / 4);  // no sum is cut off between the passes
  const Picture16 wide = joined(in, in);                                      // times 257
  for (const std::string mode : {"bilinear", "bicubic", "nearest", "area"}) {
    for (const auto& [height, width] : {std::pair{20, 53}, std::pair{13, 17}, std::pair{60, 70}}) {
      const std::string params = size(height, width, R"(, "interpolation": ")" + mode + '"');
      const Picture bytes = test::applied("resize", params, in);
      const Picture16 out = applied("resize", params, wide);
      for (std::size_t i = 0; i < bytes.bytes.size(); ++i) {
        // Bytes are rounded between the passes too, and bicubic weights make up to 5/4 of that.
        ASSERT_NEAR(out.values[i] / 257.0, bytes.bytes[i], 1.2) << mode << " " << height << " x " << width;
      }
    }
  }
}

TEST(Depth, AreaAveragesTheAreaOfAPixel) {
  const Picture16 in{{2, 4, 1}, {0, 1000, 60000, 65535, 2000, 3000, 65000, 64001}};
  EXPECT_EQ(applied("resize", size(1, 2, R"(, "interpolation": "area")"), in).values,
            (std::vector<int32_t>{1500, 63634}));
}

TEST(Depth, WhatIsMixedIsCutOffAtBlackAndWhite) {
  const Picture16 in{{1, 4, 1}, {0, 0, 65535, 65535}};
  const Picture16 out = applied("resize", size(1, 16, R"(, "interpolation": "bicubic")"), in);
  EXPECT_EQ(*std::min_element(out.values.begin(), out.values.end()), 0);
  EXPECT_EQ(*std::max_element(out.values.begin(), out.values.end()), 65535);
}

TEST(Depth, TurnedImagesOfWidenedBytesAreThoseOfTheBytes) {
  const Picture in = noise(30, 41, 3);
  for (const auto& [name, params] : std::vector<std::pair<std::string, std::string>>{
           {"random_rotation", R"({"degrees": [40]})"}, {"random_perspective", R"({"p": 1})"}}) {
    const Picture bytes = test::applied(name, params, in, 4);
    const Picture16 out = applied(name, params, joined(in, in), 4);
    for (std::size_t i = 0; i < bytes.bytes.size(); ++i)
      ASSERT_NEAR(out.values[i] / 257.0, bytes.bytes[i], 1.01) << name;
  }
}

TEST(Depth, ARegionGivesTheValuesOfTheWholeImage) {
  const Picture16 in = joined(noise(30, 41, 3, 1), noise(30, 41, 3, 2));
  for (const std::string name : {"random_resized_crop", "random_crop", "center_crop"}) {
    const auto transform = image_transform(name, size(12, 10));
    const auto& cutting = *static_cast<const Cutting*>(transform->ability(Cutting::kAbility));
    for (uint64_t key = 0; key < 10; ++key) {
      Rng random(key);
      const Region region = cutting.choose({30, 41}, random, {});
      Picture16 part{{region.height, region.width, 3}, {}};
      for (int64_t y = 0; y < region.height; ++y) {
        for (int64_t x = 0; x < region.width; ++x) {
          for (int64_t c = 0; c < 3; ++c) part.values.push_back(in.at(region.top + y, region.left + x, c));
        }
      }
      MemorySample sample = sample_of(part);
      cutting.apply_cut(sample, {30, 41}, region, random, {});
      EXPECT_EQ(picture_16_of(after(sample, "image")), applied(*transform, in, key)) << name << " " << key;
    }
  }
}

// ---- numbers --------------------------------------------------------------------------------------------------------

TEST(Depth, NormalizeDividesBy65535) {
  const std::vector<double> mean{0.485, 0.456, 0.406, 0.1};
  const std::vector<double> std{0.229, 0.224, 0.225, 0.5};
  const auto transform =
      image_transform("normalize_image", R"({"mean": [0.485, 0.456, 0.406, 0.1], "std": [0.229, 0.224, 0.225, 0.5]})");
  const Picture16 in = joined(noise(5, 23, 4, 1), noise(5, 23, 4, 2));
  MemorySample sample = sample_of(in);
  EXPECT_EQ(to_string(transform->spec(sample.fields())[0]), "float32[4, 5, 23]");
  Rng random(1);
  transform->apply(sample, random, {});
  const std::vector<float> out = sample.written<float>("image");
  EXPECT_EQ(sample.written_shape("image"), (Shape{4, 5, 23}));
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t i = 0; i < 5 * 23; ++i) {
      const double x = in.values[i * 4 + c] / 65535.0;
      const double term = std::max(x, mean[c]) / std[c];
      EXPECT_NEAR(out[c * 5 * 23 + i], (x - mean[c]) / std[c], 4 * std::ldexp(1.0, std::ilogb(term) - 23));
    }
  }
}

TEST(Depth, NormalizeGivesWidenedBytesTheNumbersOfTheBytes) {
  const auto numbers = [](MemorySample sample) {
    Rng random(1);
    image_transform("normalize_image", R"({"mean": [0.5], "std": [0.25]})")->apply(sample, random, {});
    return sample.written<float>("image");
  };
  const Picture in = noise(7, 9, 3);
  const std::vector<float> of_bytes = numbers(test::sample_of(in));
  const std::vector<float> of_values = numbers(sample_of(joined(in, in)));
  ASSERT_EQ(of_bytes.size(), of_values.size());
  for (std::size_t i = 0; i < of_bytes.size(); ++i) EXPECT_NEAR(of_bytes[i], of_values[i], 1e-6);
}

TEST(Depth, NormalizeIsUndoneToTheValuesThatCameIn) {
  const auto rescaling = [](const std::vector<Dtype>& streams) {
    const auto made = image_transform("normalize_image", R"({"mean": [0.5], "std": [0.25]})");
    for (const Dtype dtype : streams) (void)made->spec({{"image", dtype, {8, 8, 3}}});
    return *static_cast<const Rescaled*>(made->ability(Rescaled::kAbility))->rescaling("image");
  };
  EXPECT_EQ(rescaling({Dtype::kUint8, Dtype::kUint8}).scale, (std::vector<double>{63.75}));
  EXPECT_EQ(rescaling({Dtype::kInt32}).scale, (std::vector<double>{16383.75}));
  EXPECT_EQ(rescaling({Dtype::kInt32}).offset, (std::vector<double>{32767.5}));
  const Error mixed = error_of([&] { (void)rescaling({Dtype::kUint8, Dtype::kInt32}); });
  EXPECT_EQ(mixed.pointer(), "/image");
  EXPECT_STREQ(mixed.what(),
               "\"image\" is of 8 bits in one stream and of 16 in another: have a normalize_image for each");
}

// ---- refusals -------------------------------------------------------------------------------------------------------

TEST(Depth, WhatTakes8BitsAloneSaysSoAndWhatToDo) {
  const Spec in{{"image", Dtype::kInt32, {"H", "W", 3}}, {"label", Dtype::kInt64, {}}};
  for (const Use& each : std::vector<Use>{{"color_jitter", "{}"},
                                          {"grayscale", "{}"},
                                          {"random_grayscale", "{}"},
                                          {"gaussian_blur", R"({"kernel_size": 3})"},
                                          {"random_autocontrast", "{}"},
                                          {"random_equalize", "{}"},
                                          {"random_erasing", "{}"},
                                          {"rand_augment", "{}"},
                                          {"trivial_augment", "{}"},
                                          {"mixup", R"({"classes": 2})"},
                                          {"cutmix", R"({"classes": 2})"},
                                          {"mosaic", R"({"height": 4, "width": 4})"}}) {
    const Error error = error_of([&] { (void)image_transform(each.name, each.params)->spec(in); });
    EXPECT_EQ(error.code(), ErrorCode::kConfig) << each.name;
    EXPECT_EQ(error.pointer(), "/image") << each.name;
    EXPECT_STREQ(error.what(),
                 "\"image\" is int32[H, W, 3], an image of 16 bits, but this transform takes images of 8 bits alone, "
                 "uint8[H, W, C]: give the dataset \"bits\": 8, or leave this transform out")
        << each.name;
  }
}

TEST(Depth, WhatIsNoImageIsRefusedAlsoWhereBothDepthsAreTaken) {
  for (const Dtype dtype : {Dtype::kInt16, Dtype::kInt64, Dtype::kFloat32}) {
    for (const std::string name : {"random_horizontal_flip", "normalize_image"}) {
      const Error error = error_of([&] { (void)image_transform(name)->spec({{"image", dtype, {8, 8, 3}}}); });
      EXPECT_EQ(error.pointer(), "/image");
      EXPECT_NE(std::string(error.what()).find("uint8[H, W, C] here, or int32[H, W, C] of 16 bits"), std::string::npos)
          << error.what();
    }
  }
}

TEST(Depth, AColourOf16BitsIsForImagesOf16Bits) {
  const auto pad = image_transform("pad", R"({"padding": [1], "fill": [255, 256, 0]})");
  EXPECT_EQ(to_string(pad->spec({{"image", Dtype::kInt32, {8, 8, 3}}})[0]), "int32[10, 10, 3]");
  const Error error = error_of([&] { (void)pad->spec({{"image", Dtype::kUint8, {8, 8, 3}}}); });
  EXPECT_EQ(error.code(), ErrorCode::kConfig);
  EXPECT_EQ(error.pointer(), "/fill/1");
  EXPECT_STREQ(error.what(), "\"image\" is of 8 bits, whose values are 0 to 255; more is for images of 16 bits");
  EXPECT_EQ(error_of([] { (void)image_transform("pad", R"({"padding": [1], "fill": [65536]})"); }).pointer(),
            "/fill/0");
  EXPECT_EQ(error_of([] { (void)image_transform("rand_augment", R"({"fill": [256]})"); }).pointer(), "/fill/0");
}

// ---- a whole stream -------------------------------------------------------------------------------------------------

TEST(Depth, AFolderOf16BitsIsResizedAndNormalised) {
  const TemporaryFolder folder;
  std::string values;
  for (int i = 0; i < 4 * 6; ++i) values += std::string{static_cast<char>(i * 10), static_cast<char>(i)};
  put(folder / "images/cat/a.pgm", "P5 6 4 65535\n" + values);
  const auto dataset =
      images_opened("image_folder", {{"path", (folder / "images").string()}, {"color", "grey"}, {"bits", 16}});
  const auto resize = image_transform("resize", size(2, 3, R"(, "interpolation": "area")"));
  const auto normalize = image_transform("normalize_image", R"({"mean": [0.25], "std": [0.5]})");
  const Spec resized_fields = resize->spec(dataset->spec());
  const Spec fields = normalize->spec(resized_fields);
  EXPECT_EQ(to_string(fields[0]), "float32[1, 2, 3]");

  MemorySample read(dataset->spec());
  dataset->read(0, read);
  Rng random(1);
  MemorySample small = read.next(dataset->spec(), resized_fields);
  resize->apply(small, random, {});
  MemorySample last = small.next(resized_fields, fields);
  normalize->apply(last, random, {});
  std::vector<float> wanted;
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 3; ++x) {
      // The mean of four values of i · (10 · 256 + 1), i from the upper left one.
      const double i = y * 12 + x * 2 + 3.5;
      wanted.push_back(static_cast<float>((i * 2561 / 65535 - 0.25) / 0.5));
    }
  }
  const std::vector<float> out = last.written<float>("image");
  ASSERT_EQ(out.size(), wanted.size());
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], wanted[i], 2.0 / 65535) << i;
}

}  // namespace
}  // namespace tenon::test
