// Fields to pictures.
#include <host/contact_sheet.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <core/text/source.hpp>
#include <engine/data/image_layout.hpp>
#include <host/sample_text.hpp>
#include <host/sheet_roles.hpp>
#include <host/table.hpp>

namespace tenon::host {
namespace {

using engine::DataShown;
using engine::ImageLayout;
using engine::ShownField;
using engine::ShownSample;
using engine::ShownValue;

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kCaptionLines = 3;
constexpr std::size_t kMostKeys = 40;
constexpr std::size_t kTableNumbers = 6;
constexpr std::size_t kTableText = 60;

/// From the values of all images to bytes.
struct Range {
  double from = 0;
  double to = 255;

  [[nodiscard]] uint8_t byte(double value) const {
    if (!std::isfinite(value) || to <= from) return 0;
    return static_cast<uint8_t>(std::lround(std::clamp((value - from) / (to - from), 0.0, 1.0) * 255));
  }
};

Range range_of(const DataShown& shown, std::size_t image) {
  const FieldSpec& field = shown.fields[image].field;
  double least = std::numeric_limits<double>::infinity();
  double most = -least;
  for (const ShownSample& sample : shown.samples) {
    if (sample.values.empty()) continue;
    for (const double value : numbers_of(field, sample.values[image], kAll)) {
      if (!std::isfinite(value)) continue;
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  constexpr double kSlack = 0.02;  // of what interpolation and rounding add
  constexpr double kDarkest = 32;  // bytes that use less of their range would look black
  if (counts_wholes(field.dtype))
    return least >= 0 && most > kDarkest && most <= 255 ? Range{} : Range{std::min(least, 0.0), most};
  if (least >= -kSlack && most <= 1 + kSlack) return {0, 1};
  if (least >= -255 * kSlack && most > 1 + kSlack && most <= 255 * (1 + kSlack) && most > kDarkest) return {};
  return {least, most};
}

sheet::Image image_of(const FieldSpec& field, const ImageLayout& layout, const ShownValue& value, const Range& range) {
  sheet::Image image;
  image.height = value.shape[layout.height];
  image.width = value.shape[layout.width];
  image.channels = layout.channels;
  const std::vector<double> numbers = numbers_of(field, value, kAll);
  const auto channels = static_cast<std::size_t>(layout.channels);
  const std::size_t plane = channels == 0 ? 0 : numbers.size() / channels;
  const bool first = layout.channel == std::size_t{0};
  image.pixels.resize(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t to = first ? i % plane * channels + i / plane : i;
    image.pixels[to] = range.byte(numbers[i]);
  }
  return image;
}

/// Which class has which colour: its number.
class Keys {
 public:
  explicit Keys(bool of_masks) : of_masks_(of_masks) {}

  void note(int64_t number, const ShownField& field) {
    const auto names = static_cast<int64_t>(field.categories.size());
    if (of_masks_ && (number == 0 || number == 255)) return;
    keys_.emplace(number, number >= 0 && number < names ? field.categories[static_cast<std::size_t>(number)]
                                                        : std::to_string(number));
  }

  [[nodiscard]] std::vector<sheet::Key> all() const {
    std::vector<sheet::Key> keys;
    for (const auto& [number, text] : keys_) {
      if (keys.size() < kMostKeys) keys.push_back({number, text});
    }
    return keys;
  }

 private:
  bool of_masks_;
  std::map<int64_t, std::string> keys_;
};

class Composer {
 public:
  Composer(const DataShown& shown, SheetRoles roles)
      : shown_(shown), roles_(std::move(roles)), range_(range_of(shown, roles_.image)), keys_(!roles_.masks.empty()) {}

  sheet::Sheet compose() {
    sheet::Sheet sheet;
    for (const ShownSample& sample : shown_.samples) sheet.tiles.push_back(tile(sample));
    sheet.keys = keys_.all();
    return sheet;
  }

 private:
  sheet::Tile tile(const ShownSample& sample) {
    sheet::Tile tile;
    const std::string number = fmt::format("sample {}", sample.index);
    if (sample.values.empty()) {
      tile.message = sample.failure;
      tile.caption.push_back(number);
      return tile;
    }
    const ShownValue& value = sample.values[roles_.image];
    if (elements(value.shape) > 0) {
      tile.image = image_of(shown_.fields[roles_.image].field, roles_.layout, value, range_);
      lay_mask(sample, tile);
      add_boxes(sample, tile);
    } else {
      tile.message = "the image has no pixels";
    }
    tile.caption = captions(sample);
    tile.caption.push_back(number);
    return tile;
  }

  void lay_mask(const ShownSample& sample, sheet::Tile& tile) {
    for (const std::size_t i : roles_.masks) {
      const ShownValue& value = sample.values[i];
      if (value.shape != Shape{tile.image.height, tile.image.width}) continue;
      const std::vector<double> numbers = numbers_of(shown_.fields[i].field, value, kAll);
      if (static_cast<int64_t>(numbers.size()) < elements(value.shape))
        continue;  // it was of another size than the image
      tile.mask.resize(numbers.size());
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        tile.mask[k] = static_cast<uint8_t>(std::clamp(numbers[k], 0.0, 255.0));
        if (k == 0 || numbers[k] != numbers[k - 1]) keys_.note(tile.mask[k], shown_.fields[i]);
      }
      return;
    }
  }

  void add_boxes(const ShownSample& sample, sheet::Tile& tile) {
    for (const std::size_t i : roles_.boxes) {
      const std::vector<double> corners = numbers_of(shown_.fields[i].field, sample.values[i], kAll);
      const std::size_t count = corners.size() / 4;
      const std::size_t classes = classes_for(sample, count);
      for (std::size_t k = 0; k < count; ++k) {
        sheet::Box box{corners[4 * k], corners[4 * k + 1], corners[4 * k + 2], corners[4 * k + 3], 0, {}};
        if (classes != kAll) {
          const ShownField& field = shown_.fields[classes];
          box.colour = static_cast<int64_t>(numbers_of(field.field, sample.values[classes], kAll)[k]);
          if (box.colour >= 0 && box.colour < static_cast<int64_t>(field.categories.size())) {
            box.label = field.categories[static_cast<std::size_t>(box.colour)];
          } else {
            box.label = std::to_string(box.colour);
          }
        }
        tile.boxes.push_back(std::move(box));
      }
    }
  }

  [[nodiscard]] std::size_t classes_for(const ShownSample& sample, std::size_t boxes) const {
    for (const std::size_t i : roles_.box_classes) {
      if (elements(sample.values[i].shape) == static_cast<int64_t>(boxes)) return i;
    }
    return kAll;
  }

  /// Named classes speak for themselves; other values come with the name of their field.
  [[nodiscard]] std::vector<std::string> captions(const ShownSample& sample) const {
    std::vector<std::string> lines;
    for (const std::size_t i : roles_.captions) {
      const ShownField& field = shown_.fields[i];
      const std::string text = value_text(field, sample.values[i], kCaptionNumbers);
      const bool speaks = !field.categories.empty() || is_text(field.field);
      lines.push_back(speaks ? text : fmt::format("{} {}", field.field.name, text));
      if (lines.size() == kCaptionLines) break;
    }
    return lines;
  }

  const DataShown& shown_;
  SheetRoles roles_;
  Range range_;
  Keys keys_;
};

/// At most so many characters, at the end of which "…" tells of more.
std::string shortened(const std::string& text, std::size_t most) {
  if (core::count_code_points(text) <= most) return text;
  std::size_t bytes = 0;
  for (std::size_t points = 0; bytes < text.size(); ++bytes) {
    const bool begins = (static_cast<unsigned char>(text[bytes]) & 0xC0U) != 0x80U;
    if (begins && points++ == most - 1) break;
  }
  return text.substr(0, bytes) + "…";
}

}  // namespace

std::optional<sheet::Sheet> contact_sheet(const DataShown& shown) {
  std::optional<SheetRoles> roles = sheet_roles(shown.fields);
  if (!roles) return std::nullopt;
  return Composer(shown, *std::move(roles)).compose();
}

std::string sample_table(const DataShown& shown, const Console& console) {
  Table table(2);
  std::vector<std::string> head{"sample"};
  for (const ShownField& field : shown.fields) head.push_back(field.field.name);
  table.add(std::move(head));
  for (const ShownSample& sample : shown.samples) {
    std::vector<std::string> row{std::to_string(sample.index)};
    if (sample.values.empty()) row.push_back(sample.failure);
    for (std::size_t i = 0; i < sample.values.size(); ++i) {
      const std::string text = value_text(shown.fields[i], sample.values[i], kTableNumbers);
      row.push_back(shortened(text, kTableText));
    }
    table.add(std::move(row));
  }
  return table.render(console.width());
}

}  // namespace tenon::host
