// The piece of a source line that a diagnostic shows, and where its marks go.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include <core/text/source.hpp>

namespace tenon::core {

/// One line made fit for a terminal. Columns count the shown characters from 0.
struct Excerpt {
  std::string text;        ///< Tabs as four blanks, control characters and invalid bytes as "·", cut ends as "…".
  std::size_t mark = 0;    ///< First marked column.
  std::size_t length = 1;  ///< Marked columns, at least one.
};

/// The line in which `span` begins. A span that goes on behind its line is marked to the line's end. What lies in one
/// of `hidden` is shown as "***".
[[nodiscard]] Excerpt make_excerpt(const Span& span, std::span<const Span> hidden = {});

}  // namespace tenon::core
