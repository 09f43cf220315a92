// What somebody may have meant by a name that is not there.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace tenon::datasets {

/// The nearest of the names, cases being equal; nothing where none is near.
[[nodiscard]] std::optional<std::string> nearest(const std::string& name, std::span<const std::string> names);

/// Up to 30 names in quotes, and how many more there are.
[[nodiscard]] std::string list_of(std::span<const std::string> names);

}  // namespace tenon::datasets
