// Opens the library that draws contact sheets; only commands that draw come here.
#pragma once

#include <sheet/sheet.hpp>

namespace tenon::host {

/// The painter of this install. It stays for the life of the process. \throws core::Refusal naming the library that is
/// missing and the package that brings it.
[[nodiscard]] sheet::Painter& open_painter();

}  // namespace tenon::host
