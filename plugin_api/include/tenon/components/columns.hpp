// Ability of datasets that know a field of all items without reading them: labels for samplers, lengths for buckets.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace tenon {

/// A dataset that can tell a scalar of every item, or the length of a field of every item, from its index. What it does
/// not know, the engine finds by reading all items once.
class Columns {
 public:
  static constexpr const char* kAbility = "tenon.columns/1";

  /// The value of a scalar field for every item, in the order of the items; nothing for a field that is no scalar, or
  /// that only read() tells. Whole numbers up to 2^53 are exact. After open(). [trainer]
  [[nodiscard]] virtual std::optional<std::vector<double>> column(std::string_view field) const = 0;

  /// The size of a field's first axis for every item, in the order of the items; nothing where only read() tells it.
  /// After open(). [trainer]
  [[nodiscard]] virtual std::optional<std::vector<int64_t>> lengths(std::string_view /*field*/) const {
    return std::nullopt;
  }

 protected:
  ~Columns() = default;
};

}  // namespace tenon
