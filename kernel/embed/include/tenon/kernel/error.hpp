// The one error type of this library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tenon/error.hpp>
#include <tenon/kernel/export.hpp>

namespace tenon::kernel {

/// One finding, as `tenon check --format json` tells it.
struct Diagnostic {
  std::string severity = {};  ///< "error", "warning", "note"
  std::string code = {};      ///< A stable word for programs, such as "unknown-key"; may be empty.
  std::string message = {};   ///< What is wrong, for people.
  std::string file = {};      ///< As it was named; empty where no place is known, and line and column are 0 then.
  int64_t line = 0;           ///< From 1.
  int64_t column = 0;         ///< From 1, in Unicode code points.
  std::string pointer = {};   ///< JSON pointer in the merged pipeline, "/nodes/opt/with/lr"; may be empty.
  std::string fix = {};       ///< What to do; may be empty where the message says it.
  std::vector<std::string> notes = {};  ///< Further lines.
};

/// All that any function of this library throws. Nothing else leaves it, and no error ends the process: whatever was
/// written before, such as checkpoints, stays valid, and the object that threw can be used on.
///
/// what() is the whole text for people, with the lines of the pipeline, as the `tenon` program prints it; code() tells
/// the group, exit_code() the number by which the `tenon` program ends for it (2 configuration, 3 plugin, 4 data, 5
/// diverged, 6 out of memory, 7 distributed, 8 verification failed, 9 no usable checkpoint, 10 storage).
class TENON_KERNEL_API Error final : public tenon::Error {
 public:
  Error(ErrorCode code, const std::string& text, std::vector<Diagnostic> diagnostics);
  Error(const Error&) = default;
  ~Error() override;

  [[nodiscard]] int exit_code() const noexcept { return tenon::exit_code(code()); }

  /// Every finding, errors and warnings, by place; at least one error.
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace tenon::kernel
