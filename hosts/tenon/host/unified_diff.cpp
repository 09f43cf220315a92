// Lines that stay, go and come; then hunks of them.
#include <host/unified_diff.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

namespace tenon::host {
namespace {

constexpr std::size_t kContext = 3;

using Lines = std::vector<std::string_view>;

/// Each with its line feed, but for a last one that has none.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t length = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return lines;
}

/// One line of the result: ' ' stays, '-' goes, '+' comes.
struct Step {
  char sign;
  std::string_view line;
};

/// The furthest places in the first text, by diagonal from -limit to limit.
class Furthest {
 public:
  explicit Furthest(std::ptrdiff_t limit) : limit_(limit), at_(static_cast<std::size_t>(2 * limit + 1), 0) {}
  [[nodiscard]] std::ptrdiff_t& operator[](std::ptrdiff_t diagonal) {
    return at_[static_cast<std::size_t>(diagonal + limit_)];
  }

 private:
  std::ptrdiff_t limit_;
  std::vector<std::ptrdiff_t> at_;
};

/// Whether the best way onto a diagonal with `edits` edits takes a line of the second text (else one of the first goes).
bool takes_new(Furthest& furthest, std::ptrdiff_t diagonal, std::ptrdiff_t edits) {
  return diagonal == -edits || (diagonal != edits && furthest[diagonal - 1] < furthest[diagonal + 1]);
}

/// What leads from `a` to `b`, which have no common beginning or end.
std::vector<Step> shortest_edit(const Lines& a, const Lines& b) {
  const auto size_a = static_cast<std::ptrdiff_t>(a.size());
  const auto size_b = static_cast<std::ptrdiff_t>(b.size());
  const auto same = [&](std::ptrdiff_t x, std::ptrdiff_t y) {
    return x < size_a && y < size_b && a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)];
  };
  std::vector<Furthest> history;
  for (std::ptrdiff_t edits = 0;; ++edits) {
    Furthest now(edits + 1);
    bool arrived = false;
    if (edits > 0) {
      for (std::ptrdiff_t k = -edits + 1; k < edits; ++k) now[k] = history.back()[k];
    }
    for (std::ptrdiff_t k = -edits; k <= edits && !arrived; k += 2) {
      std::ptrdiff_t x = 0;
      if (edits > 0) x = takes_new(now, k, edits) ? now[k + 1] : now[k - 1] + 1;
      while (same(x, x - k)) ++x;
      now[k] = x;
      arrived = x >= size_a && x - k >= size_b;
    }
    history.push_back(std::move(now));
    if (arrived) break;
  }

  std::vector<Step> steps;
  std::ptrdiff_t x = size_a;
  std::ptrdiff_t y = size_b;
  for (auto edits = static_cast<std::ptrdiff_t>(history.size()) - 1; edits > 0; --edits) {
    Furthest& before = history[static_cast<std::size_t>(edits - 1)];
    const std::ptrdiff_t k = x - y;
    const bool is_new = takes_new(before, k, edits);
    const std::ptrdiff_t from_x = is_new ? before[k + 1] : before[k - 1];
    const std::ptrdiff_t from_y = from_x - (is_new ? k + 1 : k - 1);
    for (; x > from_x && y > from_y; --x, --y) steps.push_back({' ', a[static_cast<std::size_t>(x - 1)]});
    if (is_new) {
      steps.push_back({'+', b[static_cast<std::size_t>(--y)]});
    } else {
      steps.push_back({'-', a[static_cast<std::size_t>(--x)]});
    }
  }
  for (; x > 0; --x) steps.push_back({' ', a[static_cast<std::size_t>(x - 1)]});
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::vector<Step> all_steps(Lines a, Lines b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const Lines head(a.begin(), ends.first);
  a.erase(a.begin(), ends.first);
  b.erase(b.begin(), ends.second);
  const auto tails = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend());
  const Lines tail(tails.first.base(), a.end());
  b.resize(b.size() - tail.size());
  a.resize(a.size() - tail.size());

  std::vector<Step> steps;
  for (const std::string_view line : head) steps.push_back({' ', line});
  for (const Step& step : shortest_edit(a, b)) steps.push_back(step);
  for (const std::string_view line : tail) steps.push_back({' ', line});
  return steps;
}

/// "12,3"; lines are counted from 1, and an empty range names the line before it.
std::string range(std::size_t before, std::size_t count) {
  return count == 1 ? fmt::format("{}", before + 1) : fmt::format("{},{}", count == 0 ? before : before + 1, count);
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::string_view name) {
  if (before == after) return {};
  const std::vector<Step> steps = all_steps(lines_of(before), lines_of(after));
  std::string out = fmt::format("--- {}\n+++ {}\n", name, name);
  std::size_t old_line = 0;
  std::size_t new_line = 0;
  for (std::size_t i = 0; i < steps.size();) {
    // A hunk begins three lines before the next change, and ends where no other follows within six.
    std::size_t change = i;
    while (change < steps.size() && steps[change].sign == ' ') ++change;
    if (change == steps.size()) break;
    const std::size_t begin = std::max(i, change - std::min(change, kContext));
    std::size_t last = change;
    for (std::size_t k = change; k < steps.size() && k <= last + 2 * kContext + 1; ++k) {
      if (steps[k].sign != ' ') last = k;
    }
    const std::size_t end = std::min(last + 1 + kContext, steps.size());
    old_line += begin - i;
    new_line += begin - i;
    std::string lines;
    std::size_t gone = 0;
    std::size_t come = 0;
    for (std::size_t k = begin; k < end; ++k) {
      lines += steps[k].sign;
      lines += steps[k].line;
      if (!steps[k].line.ends_with('\n')) lines += "\n\\ No newline at end of file\n";
      gone += steps[k].sign != '+' ? 1 : 0;
      come += steps[k].sign != '-' ? 1 : 0;
    }
    out += fmt::format("@@ -{} +{} @@\n{}", range(old_line, gone), range(new_line, come), lines);
    old_line += gone;
    new_line += come;
    i = end;
  }
  return out;
}

}  // namespace tenon::host
