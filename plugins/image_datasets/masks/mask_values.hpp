// From the values in the files of masks to class numbers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tenon::image_datasets {

/// What a mask holds where no class counts; losses over pixels leave such places out.
inline constexpr uint8_t kIgnored = 255;

/// A class number, or kIgnored, for each value of a file.
class MaskValues {
 public:
  /// Classes are 0 to `classes` − 1; `values` renames values, written as decimal numbers, to classes; those in `ignore`
  /// become 255. Without `values` each value is its own class. 255 is always ignored, unless `values` names it; with
  /// `ignore_others` so is whatever else is no class.
  /// \throws Error (kConfig) with the pointer of what contradicts itself.
  MaskValues(int64_t classes, const std::map<std::string, int64_t>& values, const std::vector<int64_t>& ignore,
             bool ignore_others);

  /// Replaces the values of a mask of that width in place. \throws Error (kData), without the file's name, for a value
  /// that is no class, with its place.
  void apply(std::span<uint8_t> mask, int64_t width) const;

  /// Text that differs where values are read differently.
  [[nodiscard]] std::string fingerprint() const;

 private:
  static constexpr int16_t kNone = -1;

  [[noreturn]] void fail(unsigned value, int64_t column, int64_t row) const;

  int64_t classes_;
  std::array<int16_t, 256> classes_of_{};
};

}  // namespace tenon::image_datasets
