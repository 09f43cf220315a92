// The one error type that crosses the border between host and plugins, and the exit codes behind it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace tenon {

/// What went wrong, as an embedder or a scheduler needs to tell it apart. Each group has one exit code.
enum class ErrorCode {
  kConfig,        ///< The pipeline, the command line or a parameter is wrong (exit 2).
  kPlugin,        ///< A plugin cannot be found, opened or trusted, or it failed (exit 3).
  kData,          ///< A dataset or a sample is missing, damaged or against its spec (exit 4).
  kDiverged,      ///< A loss or a gradient is not finite (exit 5).
  kMemory,        ///< Out of memory (exit 6).
  kDistributed,   ///< A rank or a collective failed (exit 7).
  kVerification,  ///< An export or a proof does not hold (exit 8).
  kCheckpoint,    ///< There is no usable checkpoint (exit 9).
  kStorage,       ///< A file cannot be written: full disk, missing permission (exit 10).
};

/// The documented exit code of the `tenon` program for an error of this group.
[[nodiscard]] constexpr int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kConfig: return 2;
    case ErrorCode::kPlugin: return 3;
    case ErrorCode::kData: return 4;
    case ErrorCode::kDiverged: return 5;
    case ErrorCode::kMemory: return 6;
    case ErrorCode::kDistributed: return 7;
    case ErrorCode::kVerification: return 8;
    case ErrorCode::kCheckpoint: return 9;
    case ErrorCode::kStorage: return 10;
  }
  return 2;
}

/// Thrown by the kernel and by components. A component says what is wrong and how to mend it, in its own words; the
/// engine adds the node, the plugin and the place in the pipeline file.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  /// For an error that one parameter causes: `pointer` is its JSON pointer below `with`, such as "/pixels".
  Error(ErrorCode code, const std::string& message, std::string pointer)
      : std::runtime_error(message), code_(code), pointer_(std::move(pointer)) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

  /// Empty when no single parameter is to blame.
  [[nodiscard]] const std::string& pointer() const noexcept { return pointer_; }

 private:
  ErrorCode code_;
  std::string pointer_;
};

}  // namespace tenon
