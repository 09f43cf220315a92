// A table of all 256 values.
#include <masks/mask_values.hpp>

#include <charconv>

#include <files/content_hash.hpp>
#include <tenon/error.hpp>

namespace tenon::image_datasets {
namespace {

[[noreturn]] void refuse(const std::string& why, const std::string& pointer) {
  throw Error(ErrorCode::kConfig, why, pointer);
}

std::size_t value_of(const std::string& text) {
  unsigned value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && stopped == end && value <= 255) return value;
  refuse("\"" + text + "\" is no value of a mask: those are whole numbers from 0 to 255", "/values");
}

}  // namespace

MaskValues::MaskValues(int64_t classes, const std::map<std::string, int64_t>& values,
                       const std::vector<int64_t>& ignore, bool ignore_others)
    : classes_(classes) {
  classes_of_.fill(ignore_others ? int16_t{kIgnored} : kNone);
  classes_of_[kIgnored] = kIgnored;
  for (int64_t i = 0; values.empty() && i < classes; ++i)
    classes_of_[static_cast<std::size_t>(i)] = static_cast<int16_t>(i);
  for (const auto& [text, number] : values) {
    if (number < 0 || number >= classes) {
      refuse(std::to_string(number) + " is no class: \"classes\" is " + std::to_string(classes) + ", so they end at " +
                 std::to_string(classes - 1),
             "/values/" + text);
    }
    classes_of_[value_of(text)] = static_cast<int16_t>(number);
  }
  for (std::size_t i = 0; i < ignore.size(); ++i) {
    const std::string text = std::to_string(ignore[i]);
    if (values.contains(text)) refuse(text + " is a class in \"values\" already", "/ignore/" + std::to_string(i));
    classes_of_[static_cast<std::size_t>(ignore[i])] = kIgnored;
  }
}

void MaskValues::apply(std::span<uint8_t> mask, int64_t width) const {
  for (std::size_t i = 0; i < mask.size(); ++i) {
    const int16_t number = classes_of_[mask[i]];
    if (number == kNone) fail(mask[i], static_cast<int64_t>(i) % width, static_cast<int64_t>(i) / width);
    mask[i] = static_cast<uint8_t>(number);
  }
}

void MaskValues::fail(unsigned value, int64_t column, int64_t row) const {
  throw Error(ErrorCode::kData, "holds " + std::to_string(value) + " at column " + std::to_string(column) + ", row " +
                                    std::to_string(row) + ", which is no class: they are 0 to " +
                                    std::to_string(classes_ - 1) +
                                    "; name the value in \"values\" or in \"ignore\", or set \"ignore_others\"");
}

std::string MaskValues::fingerprint() const {
  return datasets::hex(datasets::content_hash(std::as_bytes(std::span(classes_of_))));
}

}  // namespace tenon::image_datasets
