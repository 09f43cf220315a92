// From texts to one pipeline: extends, the file, overlays, --set, variables, and the schema of the pipeline file.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <core/json/json.hpp>
#include <core/json/pointer_table.hpp>
#include <core/resolve/origin.hpp>
#include <core/schema/checker.hpp>
#include <core/text/diagnostic.hpp>

namespace tenon::core {

/// Whose default a value is that the pipeline format itself gives.
inline constexpr const char* kPipelineFormat = "the pipeline format";

/// What to resolve. Relative paths count from the process's current directory.
struct ResolveRequest {
  std::filesystem::path pipeline;   ///< Named in every message as it is written here.
  std::optional<std::string> text;  ///< When given, stands for the content of `pipeline`, which is not read.
  std::vector<std::filesystem::path> overlays;  ///< Arguments of --overlay in order.
  std::vector<std::string> sets;                ///< Arguments of --set in order: "path=json" or "+path=json".
  /// The schema of a component's parameters, by "kind:name", or null. Where it is given, no message shows a value of
  /// --set that is no JSON and may be a secret: of parameters whose schema is not known, or has one at that place.
  std::function<const Json*(std::string_view component)> parameters = {};
};

/// The merged pipeline and the origin of each of its values. After errors it holds what could be understood: a value is
/// of the type that its schema demands only where no error was reported (`Diagnostics::has_error_under`).
class Resolved {
 public:
  Resolved() = default;
  Resolved(Json value, PointerTable<Origin> origins);

  /// False when there is nothing to go on with: the file cannot be read, or holds no object.
  [[nodiscard]] bool usable() const noexcept { return value_.is_object(); }

  /// The merged pipeline: variables replaced, `extends` and deleted values gone, defaults of the pipeline's own schema
  /// (and those added by `apply_schema`) filled in.
  [[nodiscard]] const Json& value() const noexcept { return value_; }

  /// The value at a JSON pointer, or null.
  [[nodiscard]] const Json* find(std::string_view pointer) const noexcept;

  /// The origin of the value at a pointer; for a pointer that does not exist, that of its nearest ancestor.
  [[nodiscard]] const Origin& origin(std::string_view pointer) const;

  /// The place of a pointer for a diagnostic. A default has no place of its own: that of its nearest ancestor that was
  /// written somewhere.
  [[nodiscard]] Located locate(std::string_view pointer) const;

  /// An error at the value (or at the key) of a pointer, with span, pointer and secondary spans filled in; the caller
  /// sets label, notes and suggestion as needed.
  [[nodiscard]] Diagnostic error_at_value(std::string_view pointer, std::string code, std::string message) const;
  [[nodiscard]] Diagnostic error_at_key(std::string_view pointer, std::string code, std::string message) const;

  /// An error about a member that is missing: at the null that deleted it, or at the key of its object. Its label is set
  /// only in the first case.
  [[nodiscard]] Diagnostic error_at_missing(std::string_view object, std::string_view key, std::string code,
                                            std::string message) const;

  /// The string at a pointer as a path: a relative one counted from the folder of the file that wrote it, from the
  /// current directory when --set or a default did. Nothing when the value is not a string.
  [[nodiscard]] std::optional<std::filesystem::path> path(std::string_view pointer) const;

  /// Adds a member that nobody wrote to the object that is to hold it; its origin is "default of `subject`".
  void add_default(std::string_view pointer, Json value, std::string subject);

  /// Checks the value at `pointer` against a schema and fills in its defaults, whose origin is then "default of
  /// `subject`". A missing value is taken as an empty object and added. Returns false when errors were reported. What
  /// stands in a secret's place and does not name an environment variable is an error, and "***" from then on.
  bool apply_schema(std::string_view pointer, const Json& schema, std::string subject, Diagnostics& diagnostics);

 private:
  void hide_secrets(std::span<const Diagnostic> findings);
  void refuse_variables_as_secrets(Json& value, const Json& schema, const CheckContext& context,
                                   Diagnostics& diagnostics) const;
  bool apply(std::string_view pointer, const Json& schema, CheckContext context, std::string owner,
             Diagnostics& diagnostics);

  Json value_;
  PointerTable<Origin> origins_;
  std::unordered_map<std::string, std::size_t> nodes_;  // Positions in "/nodes".

  friend Resolved resolve(const ResolveRequest& request, Diagnostics& diagnostics);
};

/// Reads, merges and checks a pipeline. Never throws on bad input: everything is reported, in one go, and the result is
/// as complete as the input allows. Besides the reader's and the checker's codes: missing-file, unreadable-file,
/// extends-cycle, bad-extends, null-value, nothing-to-delete (warning), bad-set, unknown-name, unknown-variable,
/// bad-reference, nested-variable, unused-variable (warning).
[[nodiscard]] Resolved resolve(const ResolveRequest& request, Diagnostics& diagnostics);

}  // namespace tenon::core
