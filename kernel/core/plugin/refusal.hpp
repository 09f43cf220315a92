// Why a plugin, or a library that it needs, is not taken.
#pragma once

#include <string>
#include <utility>

#include <tenon/error.hpp>

namespace tenon::core {

/// An error about a plugin file (exit 3) with a stable identifier of the reason, such as "fingerprint", "no-manifest".
class Refusal : public Error {
 public:
  Refusal(std::string reason, const std::string& message)
      : Error(ErrorCode::kPlugin, message), reason_(std::move(reason)) {}

  /// For tools: lower case, words joined by "-". what() is for people.
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  std::string reason_;
};

}  // namespace tenon::core
