// What a value does against its schema, before it has a place in a file.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/json/json.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// One violation. `text` is the message's second half; its first half names the value at `pointer` (for a key: the object
/// that holds it).
struct Violation {
  enum class At { kValue, kKey, kObject };

  std::string code = {};
  std::string pointer = {};  ///< Of the value, the key, or the object that lacks `member`, in the whole document.
  At at = At::kValue;
  std::string text = {};
  std::string label = {};
  std::vector<std::string> notes = {};
  std::optional<std::string> replacement = {};  ///< JSON text for the value, or the bare name for a key.
  Applicability applicability = Applicability::kMaybe;
  std::string member = {};  ///< The key that is missing.
  bool hidden = false;      ///< The value may be a secret, which nobody may show.
};

/// Finds violations. Lives for one check: it keeps compiled patterns.
class Validator {
 public:
  /// `noun` is what a member of the checked object is called.
  Validator(const Json& root, std::string noun) : root_(root), noun_(std::move(noun)) {}

  /// All violations of `value`, which lies at `pointer`. Throws tenon::Error(kPlugin) for a broken schema.
  [[nodiscard]] std::vector<Violation> check(const Json& value, const Json& schema, const std::string& pointer);

 private:
  using Violations = std::vector<Violation>;

  /// Whether there is no violation, without the words that one would need.
  [[nodiscard]] bool holds(const Json& value, const Json& schema);

  void check_into(const Json& value, const Json& unresolved, const std::string& pointer, Violations& out);
  /// Whether a secret's value is the name of a variable.
  [[nodiscard]] bool names_secret(const Json& value, const Json& schema);
  [[nodiscard]] bool check_constants(const Json& value, const Json& schema, const std::string& pointer,
                                     Violations& out);
  [[nodiscard]] bool check_type(const Json& value, const Json& schema, const std::string& pointer, Violations& out);
  void check_number(const Json& value, const Json& schema, const std::string& pointer, Violations& out);
  void check_string(const Json& value, const Json& schema, const std::string& pointer, Violations& out);
  void check_array(const Json& value, const Json& schema, const std::string& pointer, Violations& out);
  void check_object(const Json& value, const Json& schema, const std::string& pointer, Violations& out);
  void check_member(const std::string& name, const Json& member, const Json& schema, const std::string& pointer,
                    Violations& out);
  void check_combined(const Json& value, const Json& schema, const std::string& pointer, Violations& out);

  [[nodiscard]] Violations best_alternative(const Json& value, const Json& schema, const std::string& pointer);
  [[nodiscard]] Violation bad_secret(const Json& schema, const std::string& pointer) const;
  [[nodiscard]] Violation wrong_type(const Json& value, const Json& schema, const std::string& pointer);
  [[nodiscard]] Violation unknown_value(const Json& value, const Json& schema, const std::vector<std::string>& names,
                                        const std::string& pointer) const;
  [[nodiscard]] Violation unknown_key(const std::string& name, const Json& schema, const std::string& pointer) const;
  [[nodiscard]] bool matches(const std::string& text, const std::string& pattern);

  const Json& root_;
  std::string noun_;
  std::map<std::string, std::regex, std::less<>> patterns_;
  int depth_ = 0;
  bool quiet_ = false;
};

}  // namespace tenon::core
