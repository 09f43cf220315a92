// Reads symbol tables by the file's section headers, every offset checked against the file's size.
#include <describe/elf.hpp>

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tenon::describe {
namespace {

template <class T>
T read_at(const std::string& file, std::size_t offset) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) throw std::runtime_error("the ELF file is truncated");
  T value;
  std::memcpy(&value, file.data() + offset, sizeof(T));
  return value;
}

/// Calls `take(symbol, name)` for every entry of the tables of that type.
template <class Take>
void each_symbol(const std::string& file, Elf64_Word type, const Take& take) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  const auto section = [&](std::size_t index) {
    return read_at<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != type) continue;
    const Elf64_Shdr strings = section(table.sh_link);
    for (std::size_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = read_at<Elf64_Sym>(file, table.sh_offset + at);
      const std::size_t name = strings.sh_offset + symbol.st_name;
      if (symbol.st_name != 0 && name < file.size()) take(symbol, file.substr(name, file.find('\0', name) - name));
    }
  }
}

}  // namespace

Symbols read_symbols(const std::filesystem::path& library) {
  std::ifstream stream(library, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream.good() && file.empty()) throw std::runtime_error("cannot be read");
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) {
    throw std::runtime_error("is no 64-bit ELF file");
  }
  Symbols symbols;
  each_symbol(file, SHT_DYNSYM, [&](const Elf64_Sym& symbol, std::string name) {
    if (symbol.st_shndx == SHN_UNDEF) {
      symbols.imported.push_back(std::move(name));
    } else if (ELF64_ST_BIND(symbol.st_info) != STB_LOCAL && symbol.st_shndx != SHN_ABS) {
      symbols.exported.push_back(std::move(name));
    }
  });
  each_symbol(file, SHT_SYMTAB, [&](const Elf64_Sym& symbol, std::string name) {
    if (symbol.st_shndx != SHN_UNDEF) symbols.all.push_back(std::move(name));
  });
  return symbols;
}

}  // namespace tenon::describe
