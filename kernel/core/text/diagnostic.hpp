// Findings about a pipeline: each with its place, what is wrong, and how to mend it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <core/text/source.hpp>
#include <tenon/error.hpp>

namespace tenon::core {

enum class Severity { kError, kWarning, kNote };

/// How far a suggestion can be trusted.
enum class Applicability {
  kSafe,   ///< `tenon fix` may apply it unseen: what was meant is beyond doubt.
  kMaybe,  ///< Likely; a person decides.
};

/// Text to put in a span's place.
struct Suggestion {
  Span span = {};
  std::string replacement = {};
  Applicability applicability = Applicability::kMaybe;
};

/// A further place with its role: the variable, the schema's demand, the other end of an edge.
struct Label {
  Span span = {};
  std::string text = {};
};

/// One finding. `code` is a stable lower-case word such as "unknown-key"; `message` names the subject and says what is
/// wrong without a full stop; `label` stands under the caret and says the fix.
struct Diagnostic {
  Severity severity = Severity::kError;
  std::string code = {};
  std::string message = {};
  Span span = {};            ///< May be empty: a missing file has no place.
  std::string pointer = {};  ///< JSON pointer in the merged pipeline; empty where there is none.
  std::string label = {};    ///< May be empty.
  std::vector<Label> secondary = {};
  std::vector<std::string> notes = {};  ///< Each one line, printed behind "   = ".
  std::optional<Suggestion> suggestion = {};
  /// Places that may hold a secret: no rendering shows them, also not those of other findings on the same line.
  std::vector<Span> hidden = {};
  ErrorCode error_code = ErrorCode::kConfig;  ///< Group that decides the exit code of an error.
};

/// Collects findings in the order in which they were found. Not safe for use from several threads.
class Diagnostics {
 public:
  void add(Diagnostic diagnostic);

  /// Adds all of `other` behind its own.
  void append(const Diagnostics& other);

  [[nodiscard]] const std::vector<Diagnostic>& all() const noexcept { return all_; }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  [[nodiscard]] std::size_t errors() const noexcept { return errors_; }
  [[nodiscard]] std::size_t warnings() const noexcept { return warnings_; }
  [[nodiscard]] bool has_errors() const noexcept { return errors_ > 0; }

  /// True when an error was reported at `pointer` or below it. Later stages ask it so that one mistake is told once.
  [[nodiscard]] bool has_error_under(std::string_view pointer) const noexcept;

  /// Orders by place: sources in the order in which they first appear, then offset; findings without a place come
  /// first. Stable. Drops exact repetitions (same code, place and message).
  void sort();

  /// What any of them hides.
  [[nodiscard]] std::vector<Span> hidden() const;

  /// Exit code of the first error in the present order; 0 without errors.
  [[nodiscard]] int exit_code() const noexcept;

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
  std::size_t warnings_ = 0;
};

/// "error", "warning" or "note".
[[nodiscard]] std::string_view to_string(Severity severity) noexcept;

}  // namespace tenon::core
