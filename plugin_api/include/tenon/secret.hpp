// Secrets: passwords and tokens that stand in no file.
#pragma once

#include <string>
#include <utility>

namespace tenon {

/// A parameter that a pipeline writes as `{ "env": "NAME" }`. Only the variable's name is known and kept; what it holds
/// is read where it is used, and is never written out or logged.
class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string variable) : variable_(std::move(variable)) {}

  /// Name of the environment variable; empty only before the parameters were read.
  [[nodiscard]] const std::string& variable() const noexcept { return variable_; }

  /// What the variable holds now. Not in a constructor: that may run for checking alone, where the variable need not be
  /// set. \throws Error (kConfig) naming the variable when it is unset or empty. [any thread]
  [[nodiscard]] std::string read() const;

 private:
  std::string variable_;
};

}  // namespace tenon
