// The schemas of our own files, compiled into the library.
#pragma once

#include <string_view>

namespace tenon::core {

/// Text of `schemas/<name>.schema.json` ("pipeline-1"); empty for an unknown name. Lives as long as the library.
[[nodiscard]] std::string_view embedded_schema(std::string_view name) noexcept;

}  // namespace tenon::core
