// The little that tenon-describe asks of an ELF file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::describe {

/// Names of the dynamic symbols that the shared library takes from others.
/// \throws std::runtime_error when the file cannot be read or is no 64-bit ELF library.
[[nodiscard]] std::vector<std::string> imported_symbols(const std::filesystem::path& library);

}  // namespace tenon::describe
