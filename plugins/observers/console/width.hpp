// How much room text takes on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tenon::observers {

/// Columns of `text`, which is UTF-8: wide characters take two, combining ones none (Unicode's UAX #11, without the
/// ambiguous ones). A byte that is no UTF-8 takes one.
[[nodiscard]] std::size_t columns_of(std::string_view text) noexcept;

/// The beginning of `text` that fits into `columns`; no character is cut.
[[nodiscard]] std::string_view cut(std::string_view text, std::size_t columns) noexcept;

}  // namespace tenon::observers
