// Whether text is UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

namespace tenon::datasets {

/// Offset of the first byte that does not belong to well-formed UTF-8 (Unicode 15, table 3-7: neither overlong forms nor
/// surrogates), or npos.
[[nodiscard]] std::size_t find_no_utf8(std::string_view text) noexcept;

}  // namespace tenon::datasets
