// Runs a program to its end and keeps what it says.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

struct ChildResult {
  int exit_code = 0;       ///< 128 + signal when a signal ended it.
  bool timed_out = false;  ///< It was ended because it took longer than allowed.
  bool cancelled = false;  ///< It was ended because `cancelled` said so.
  std::string messages;    ///< Standard error, its last 8 KiB.
};

/// Longer than any run.
inline constexpr std::chrono::seconds kNoLimit{std::chrono::years(10)};

/// What few children need.
struct ChildSetup {
  /// "NAME=VALUE", each; without it, this process's environment. In any case kParentVariable comes on top,
  /// for end_with_parent().
  std::optional<std::vector<std::string>> environment{};
  /// Called with each line of standard output as it comes, without its end; a last line that does not end counts.
  /// Without it, standard output is closed. What it throws ends the child and passes through run_child.
  std::function<void(std::string_view)> take_line{};
};

/// Runs `program` with `arguments`, standard input and output closed. `messages` is a file that receives standard error
/// and is removed at the end. `cancelled` is asked every few milliseconds; its first "true" ends the child at once.
/// The child has ended when this returns; whatever it left running is not waited for. \throws Error (kStorage) when the
/// program cannot be started.
[[nodiscard]] ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                    const std::filesystem::path& messages, std::chrono::seconds limit = kNoLimit,
                                    const std::function<bool()>& cancelled = {}, const ChildSetup& setup = {});

}  // namespace tenon::core
