// The little that tenon-describe asks of an ELF file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tenon::describe {

/// Names of a shared library's symbols, as the linker knows them.
struct Symbols {
  std::vector<std::string> imported;  ///< Taken from other libraries.
  std::vector<std::string> exported;  ///< Seen by other libraries.
  std::vector<std::string> all;       ///< Its own, local ones too; empty for a stripped file.
};

/// \throws std::runtime_error when the file cannot be read or is no 64-bit ELF library.
[[nodiscard]] Symbols read_symbols(const std::filesystem::path& library);

}  // namespace tenon::describe
