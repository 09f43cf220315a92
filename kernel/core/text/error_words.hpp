// Words for groups of errors, where nobody has a closer one.
#pragma once

#include <string_view>

#include <tenon/error.hpp>

namespace tenon::core {

/// The `code` of a finding for an error of this group: "data", "out-of-memory", …
[[nodiscard]] std::string_view error_word(ErrorCode code) noexcept;

}  // namespace tenon::core
