// Why a file cannot be read, and whose fault that is.
#pragma once

#include <cerrno>
#include <string>
#include <system_error>

#include <tenon/error.hpp>

namespace tenon::datasets {

/// "PLACE: cannot be read: …" for a value of errno: kStorage where the process has no file handles left and kMemory where
/// it has no memory, which is not the file's fault, else kData. `place` may be empty.
inline Error unreadable(const std::string& place, int number, const std::string& pointer = {}) {
  std::string text = (place.empty() ? "" : place + ": ") + "cannot be read: " + std::generic_category().message(number);
  if (number == EMFILE) text += "; raise the limit of this process (ulimit -n)";
  const bool handles = number == EMFILE || number == ENFILE;
  const ErrorCode code = handles ? ErrorCode::kStorage : number == ENOMEM ? ErrorCode::kMemory : ErrorCode::kData;
  return {code, text, pointer};
}

/// Whether an error of that code is the fault of the item that was to be read: not where the machine lacks memory or file
/// handles, since the item is sound on another machine, or at another moment.
[[nodiscard]] constexpr bool is_fault_of_item(ErrorCode code) noexcept {
  return code != ErrorCode::kMemory && code != ErrorCode::kStorage;
}

}  // namespace tenon::datasets
