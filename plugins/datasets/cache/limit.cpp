// Sums in double: the items may be more than 2^63 bytes.
#include <cache/limit.hpp>

#include <cstdio>
#include <iterator>

#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

/// "1.5 GiB".
std::string shown_bytes(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", bytes, kUnits[unit]);
  return text;
}

}  // namespace

/// What all items take, where it is too much.
std::optional<std::string> CacheLimit::needed() const {
  if (!item_bytes_) return std::nullopt;
  const double needed = static_cast<double>(*item_bytes_) * static_cast<double>(items_);
  return needed > static_cast<double>(most_bytes_) ? std::optional(shown_bytes(needed)) : std::nullopt;
}

std::string CacheLimit::shown() const { return "\"limit\": " + shown_bytes(static_cast<double>(most_bytes_)); }

std::optional<std::string> CacheLimit::shortage() const {
  const std::optional<std::string> bytes = needed();
  if (!bytes) return std::nullopt;
  return "all " + std::to_string(items_) + " items take " + *bytes + ", more than " + shown();
}

void CacheLimit::require_room() const {
  if (const std::optional<std::string> bytes = needed()) refuse("the " + *bytes);
}

void CacheLimit::refuse_first(int64_t items) const { refuse("the first " + std::to_string(items)); }

void CacheLimit::refuse(const std::string& what) const {
  throw Error(ErrorCode::kData,
              what + " of " + std::to_string(items_) + " items take more than " + shown() +
                  ": raise it, or keep smaller items or fewer",
              "/limit");
}

}  // namespace tenon::datasets
