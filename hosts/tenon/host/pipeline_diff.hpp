// What differs between two resolved pipelines, with the origin of each value.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <core/json/json.hpp>
#include <core/resolve/resolve.hpp>
#include <host/console.hpp>
#include <host/value_diff.hpp>

namespace tenon::host {

/// Two pipelines of which the second is compared with the first. Borrows both.
class PipelineDiff {
 public:
  PipelineDiff(const core::Resolved& before, const core::Resolved& after)
      : before_(&before), after_(&after), changes_(differences(before.value(), after.value())) {}

  /// Leaves what lies at the pointer or below it; a change of something that holds the pointer stays too.
  void keep_below(std::string_view pointer);

  [[nodiscard]] const std::vector<ValueChange>& changes() const noexcept { return changes_; }

  /// One line a value: its path, before -> after, where they come from.
  [[nodiscard]] std::string text(const Console& console) const;

  /// A list of {"pointer", "what", "before", "after"}; a side is {"value", "origin"}.
  [[nodiscard]] core::Json json() const;

 private:
  const core::Resolved* before_;
  const core::Resolved* after_;
  std::vector<ValueChange> changes_;
};

/// {"layer", "text"} and, where there are any, "default_of", "at", "variable", "variable_at".
[[nodiscard]] core::Json origin_json(const core::Origin& origin);

}  // namespace tenon::host
