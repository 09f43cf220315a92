// Opens shared libraries for good, and explains why one cannot be opened.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <core/plugin/refusal.hpp>

namespace tenon::core {

/// Turns the dynamic loader's message about `library` into one that says who needs what, where it was looked for, and
/// what to install. Reasons: "missing-library", "missing-symbol", "open".
[[nodiscard]] Refusal open_failure(const std::filesystem::path& library, std::string_view loader_message);

/// Opens a library by its full path, all symbols bound now and none shared. It stays mapped for the life of the
/// process. \throws Refusal as open_failure says.
[[nodiscard]] void* open_library(const std::filesystem::path& library);

/// The Debian package, PyPI package or other source of a well-known library, as advice; empty for an unknown one.
[[nodiscard]] std::string_view source_of_library(std::string_view name) noexcept;

}  // namespace tenon::core
