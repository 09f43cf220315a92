// A conformance case: its name and description are its documentation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <conformance/use.hpp>

namespace tenon::conformance {

enum class Severity { kError, kWarning };

/// What a case has to say.
struct Finding {
  Severity severity = Severity::kError;
  std::string message;  ///< What was found.
  std::string cure;     ///< The likely way to mend it.
  Json params;          ///< With which parameters; null where they do not matter.
};

/// What a case may use and where it reports. Lives in the child that runs the case.
class Bench {
 public:
  Bench(const Subject& subject, char* activity, std::size_t activity_size)
      : subject_(subject), activity_(activity), activity_size_(activity_size) {}

  [[nodiscard]] const Subject& subject() const noexcept { return subject_; }

  /// Trials that work; at least one. Found at the first call. \throws Skip when there is none.
  [[nodiscard]] const std::vector<Trial>& trials();
  [[nodiscard]] const Trial& trial() { return trials().front(); }

  /// The example's parameters as far as they were made to work. \throws Skip likewise.
  [[nodiscard]] const Json& params() { return trial().params; }

  void fail(std::string message, std::string cure, const Json& params = {});
  void warn(std::string message, std::string cure, const Json& params = {});

  /// Kept where the parent finds it if this process ends: what the component was asked to do.
  void doing(const std::string& what);

  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

 private:
  const Subject& subject_;
  char* activity_;
  std::size_t activity_size_;
  std::vector<Trial> trials_;
  std::vector<Finding> findings_;
};

/// Thrown by a case that does not apply to this component: no finding, and the reason in words.
struct Skip {
  std::string reason;
};

/// Constant for the life of the program.
struct Case {
  std::string_view name;         ///< "loss.gradcheck": stable; letters, digits, "." and "-".
  std::string_view description;  ///< One sentence: what must hold.
  std::string_view kind;         ///< The kinds that it is for, "dataset|transform"; empty for all.
  void (*run)(Bench& bench);
};

/// All cases, in the order of their names.
[[nodiscard]] std::vector<const Case*> cases();

/// True when `name` matches a glob of literal characters, "*" (any run of characters) and "?" (one).
[[nodiscard]] bool glob_match(std::string_view glob, std::string_view name) noexcept;

}  // namespace tenon::conformance

/// Makes a `constexpr Case` known: a new case is one new constant.
#define TENON_CASE(test)                                \
  [[gnu::section("tenon_conformance_cases"), gnu::used, \
    gnu::retain]] const ::tenon::conformance::Case* const tenon_registered_##test = &(test)
