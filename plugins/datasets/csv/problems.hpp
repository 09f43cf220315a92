// All that is wrong with a text file, told at once with places.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::datasets {

/// The text between double quotes as a message shows it: control characters escaped, cut after 40 code points.
[[nodiscard]] std::string shown(std::string_view text);

/// Collects up to 20 messages; each begins "file:line:column: ", line and column counted from 1, columns in code points.
class Problems {
 public:
  static constexpr std::size_t kMost = 20;

  /// `text`, UTF-8, outlives this object.
  Problems(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  /// Something is wrong with the text at a byte offset. Ignored once there are kMost.
  void add(std::size_t offset, const std::string& message);

  [[nodiscard]] bool full() const { return messages_.size() == kMost; }
  [[nodiscard]] bool empty() const { return messages_.empty(); }

  /// \throws Error (kData) with all messages, one a line, when there are any.
  void fail_if_any(const std::string& pointer) const;

 private:
  std::string file_;
  std::string_view text_;
  std::vector<std::string> messages_;
};

}  // namespace tenon::datasets
