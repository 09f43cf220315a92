// The brackets that are open while a text is read, and the errors about those that are lost, wrong or superfluous.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <core/json/syntax_errors.hpp>
#include <core/text/source.hpp>

namespace tenon::core {

/// What a closing bracket of the wrong kind is taken for.
enum class WrongBracket {
  kOuter,    ///< That of an outer object or list, where one is open; else as `kPresent`.
  kPresent,  ///< The one that is expected, miswritten.
  kNone,     ///< Superfluous; so is an opening bracket where a key is expected.
};

/// How brackets that do not match are understood. Each text is read in all these ways and that is kept which leaves the
/// fewest errors.
struct BracketPolicy {
  bool by_indentation = false;  ///< Lines that begin too far left or right tell of lost and superfluous brackets.
  WrongBracket wrong = WrongBracket::kOuter;
};

class Brackets {
 public:
  Brackets(const Source& source, SyntaxErrors& errors, BracketPolicy policy)
      : source_(source), errors_(errors), policy_(policy) {}

  /// `opening` is the bracket that stands at `offset`, or is lost there.
  void open(std::size_t offset, char opening);
  void close() { open_.pop_back(); }

  [[nodiscard]] std::size_t depth() const noexcept { return open_.size(); }

  /// Whether the list or object around the innermost one is an object.
  [[nodiscard]] bool within_object() const noexcept;

  /// True once an error about brackets was found, told or not.
  [[nodiscard]] bool at_fault() const noexcept { return at_fault_; }
  void set_at_fault() noexcept { at_fault_ = true; }

  [[nodiscard]] BracketPolicy policy() const noexcept { return policy_; }

  /// Whether the line that begins with the key, value or closing bracket at `at` must lie outside the innermost bracket,
  /// so that this was not closed; then it is reported at `end`, behind what was read last.
  [[nodiscard]] bool closed_before(std::size_t at, std::size_t end);

  /// Reports that the innermost bracket is not closed at `end`.
  void report_missing(std::size_t end);

  /// At a closing bracket of the expected kind: whether the lines behind it show that the innermost bracket goes on; then
  /// it is reported.
  [[nodiscard]] bool is_superfluous(std::size_t at);

  /// Reports a closing bracket of the wrong kind and says what it is to be taken for: `kOuter` only where one fits.
  [[nodiscard]] WrongBracket judge_wrong(std::size_t at);

  /// Reports that the text ends here. `inside` is what is cut, such as "a string", and `begin` where that begins; without
  /// it, the innermost bracket. Reading stops.
  void report_truncated(std::string_view inside = {}, std::size_t begin = 0);

 private:
  struct Open {
    std::size_t offset = 0;
    char opening = '{';
    std::string key;  ///< Or index; empty for the root.
  };
  [[nodiscard]] static char closing_of(const Open& open) noexcept { return open.opening == '{' ? '}' : ']'; }

  struct Line {
    std::size_t number = 0;
    std::size_t first = 0;  ///< Offset of the first byte that is no blank.
    std::size_t indentation = 0;
  };

  [[nodiscard]] Line line_of(std::size_t offset) const;
  [[nodiscard]] Label opened_here(const Open& open) const;

  const Source& source_;
  SyntaxErrors& errors_;
  BracketPolicy policy_;
  std::vector<Open> open_;
  std::size_t reported_missing_ = std::string_view::npos;
  bool at_fault_ = false;
};

}  // namespace tenon::core
