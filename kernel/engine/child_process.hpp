// Runs a program to its end and keeps what it says.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace tenon::engine {

struct ChildResult {
  int exit_code = 0;       ///< 128 + signal when a signal ended it.
  bool timed_out = false;  ///< It was ended because it took longer than allowed.
  std::string messages;    ///< Standard error, its last 8 KiB.
};

/// Runs `program` with `arguments`, standard input and output closed. `messages` is a file that receives standard error
/// and is removed at the end. \throws Error (kStorage) when the program cannot be started.
[[nodiscard]] ChildResult run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                    const std::filesystem::path& messages, std::chrono::seconds limit);

}  // namespace tenon::engine
