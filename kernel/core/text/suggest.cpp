// Edit distance and the thresholds of "did you mean".
#include <core/text/suggest.hpp>

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <core/text/source.hpp>

namespace tenon::core {
namespace {

std::string fold(std::string_view name) {
  std::string folded;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    folded += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return folded;
}

/// Whether `name` is `candidate` with letters lost and nothing else changed.
bool only_lost(std::string_view name, std::string_view candidate) noexcept {
  std::size_t found = 0;
  for (const char c : candidate) {
    if (found < name.size() && name[found] == c) ++found;
  }
  return found == name.size();
}

std::size_t allowed_edits(std::size_t length) noexcept { return length >= 10 ? 3 : length >= 6 ? 2 : 1; }

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if ((a.size() > b.size() ? a.size() - b.size() : b.size() - a.size()) > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    // A swap may still reach back one row further, so both rows must be beyond the limit.
    if (*std::min_element(row.begin(), row.end()) > limit && *std::min_element(above.begin(), above.end()) > limit) {
      return limit + 1;
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[b.size()], limit + 1);
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> candidates) {
  const std::string folded = fold(name);
  const std::string* best = nullptr;
  std::size_t best_score = 0;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.empty()) continue;
    const std::size_t limit = allowed_edits(std::max(name.size(), candidate.size()));
    std::size_t edits = edit_distance(name, candidate, limit);
    const bool same_folded = !folded.empty() && fold(candidate) == folded;
    // Everything replaced is no resemblance: "x" for "y", or "ab" for "c".
    const bool resembles = edits <= limit && edits < std::max(name.size(), candidate.size()) && !name.empty();
    if (!same_folded && !resembles) continue;
    // Letters are lost more often than changed: of two candidates as near, "sizs" is "sizes" rather than "size".
    const std::size_t plain = 2 * edits + (only_lost(name, candidate) ? 0 : 1);
    const std::size_t score = same_folded ? std::min<std::size_t>(plain, 3) : plain;
    if (best == nullptr || score < best_score) {
      best = &candidate;
      best_score = score;
    }
  }
  return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::optional<std::string> found = nearest(name, candidates);
  return found ? fmt::format("did you mean {}?", core::quoted(*found)) : std::string();
}

bool is_slip(std::string_view name, std::string_view meant) {
  return (name.size() >= 4 && edit_distance(name, meant, 1) == 1) ||
         (!fold(meant).empty() && fold(name) == fold(meant));
}

std::string quoted(std::string_view text, std::size_t limit) {
  std::string out = "\"";
  for (std::size_t shown = 0; !text.empty(); ++shown) {
    if (shown == limit) {
      out += "…";
      break;
    }
    const std::size_t length = code_point_length(text);
    const auto byte = static_cast<unsigned char>(text.front());
    if (length == 0) {
      out += "·";
    } else if (text.front() == '"' || text.front() == '\\') {
      out += '\\';
      out += text.front();
    } else if (text.front() == '\n') {
      out += "\\n";
    } else if (text.front() == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out + '"';
}

}  // namespace tenon::core
