// ELF by bounded reads. Layout: the System V ABI's chapters on object files; structures from <elf.h>.
#include <core/plugin/elf.hpp>

#include <elf.h>
#include <algorithm>
#include <cstring>
#include <span>
#include <type_traits>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>

namespace tenon::core {
namespace {

constexpr uint64_t kMaxSection = uint64_t{64} << 20;
constexpr uint64_t kMaxSections = 1 << 16;
constexpr uint64_t kLongestName = 4096;

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
#error "name the ELF machine of this architecture here"
#endif

/// Structures of type T out of bytes; what is left over is ignored.
template <class T>
std::vector<T> structures(const std::string& bytes) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(bytes.size() / sizeof(T));
  if (!all.empty()) std::memcpy(all.data(), bytes.data(), all.size() * sizeof(T));
  return all;
}

/// The text that starts at `offset` of a string table.
std::string text_at(const std::string& table, uint64_t offset, std::string_view what) {
  if (offset >= table.size()) throw damaged_tables(fmt::format("{} lies outside its string table", what));
  const std::size_t end = table.find('\0', static_cast<std::size_t>(offset));
  if (end == std::string::npos || end - offset > kLongestName) {
    throw damaged_tables(fmt::format("{} does not end", what));
  }
  return table.substr(static_cast<std::size_t>(offset), end - static_cast<std::size_t>(offset));
}

OpenedFile open_library(const std::filesystem::path& path) {
  try {
    return open_for_reading(path, ErrorCode::kPlugin);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kStorage) throw;  // this process may open no more: no fault of the file
    throw Refusal("unreadable", error.what());
  }
}

void check_header(const Elf64_Ehdr& header) {
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    throw Refusal("not-elf", "it is not an ELF file, so no shared library");
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    throw Refusal("architecture", "it is a 32-bit library; this Tenon is 64-bit");
  if (header.e_ident[EI_DATA] != ELFDATA2LSB)
    throw Refusal("architecture", "it is a big-endian library; this Tenon is little-endian");
  if (header.e_machine != kMachine) {
    throw Refusal("architecture", fmt::format("it was built for another processor (ELF machine {}, this Tenon has {})",
                                              header.e_machine, kMachine));
  }
  if (header.e_type != ET_DYN)
    throw Refusal("not-elf", "it is an ELF file but no shared library: link it with -shared");
}

}  // namespace

Refusal damaged_tables(const std::string& what) {
  return {"corrupt", fmt::format("its ELF tables are damaged: {}; build or copy it again", what)};
}

ElfFile::ElfFile(const std::filesystem::path& path) : path_(path) {
  OpenedFile opened = open_library(path);
  file_ = std::move(opened.file);
  size_ = opened.size;
  if (size_ == 0) throw Refusal("truncated", "it is empty; build or copy it again");
  if (size_ < sizeof(Elf64_Ehdr)) {
    const std::string start = bytes(0, std::min<uint64_t>(size_, SELFMAG), "the start");
    if (start != std::string_view(ELFMAG).substr(0, start.size())) {
      throw Refusal("not-elf", "it is not an ELF file, so no shared library");
    }
  }
  const Elf64_Ehdr header = structures<Elf64_Ehdr>(bytes(0, sizeof(Elf64_Ehdr), "the ELF header")).front();
  check_header(header);
  if (header.e_shoff == 0) return;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) throw damaged_tables("section headers have an unknown size");
  uint64_t count = header.e_shnum;
  uint64_t names = header.e_shstrndx;
  if (count == 0 || names == SHN_XINDEX) {  // numbers too large for the header are kept in the first section
    const auto first = structures<Elf64_Shdr>(bytes(header.e_shoff, sizeof(Elf64_Shdr), "the section table")).front();
    if (count == 0) count = first.sh_size;
    if (names == SHN_XINDEX) names = first.sh_link;
  }
  if (count > kMaxSections) throw damaged_tables("it claims to have too many sections");
  const auto table = structures<Elf64_Shdr>(bytes(header.e_shoff, count * sizeof(Elf64_Shdr), "the section table"));
  if (names >= table.size()) throw damaged_tables("the names of its sections are missing");
  const auto section_of = [](const Elf64_Shdr& raw) { return Section{"", raw.sh_type, raw.sh_offset, raw.sh_size}; };
  const std::string name_table = content(section_of(table[static_cast<std::size_t>(names)]));
  for (const Elf64_Shdr& raw : table) {
    sections_.push_back(section_of(raw));
    sections_.back().name = text_at(name_table, raw.sh_name, "the name of a section");
  }
}

std::string ElfFile::bytes(uint64_t offset, uint64_t size, std::string_view what) const {
  if (offset > size_ || size > size_ - offset) {
    throw Refusal("truncated",
                  fmt::format("it was cut off: {} of {} bytes should be at byte {}, but the file has {}; build or "
                              "copy it again",
                              what, size, offset, size_));
  }
  std::string content(static_cast<std::size_t>(size), '\0');
  try {
    read_at(file_, offset, std::as_writable_bytes(std::span(content)), path_, ErrorCode::kPlugin);
  } catch (const Error& error) {
    throw Refusal("unreadable", error.what());
  }
  return content;
}

std::string ElfFile::content(const Section& section) const {
  if (section.type == SHT_NOBITS) throw damaged_tables(fmt::format("the section {} has no content", section.name));
  if (section.size > kMaxSection) throw damaged_tables(fmt::format("the section {} is too large", section.name));
  return bytes(section.offset, section.size, section.name.empty() ? "a section" : "the section " + section.name);
}

const ElfFile::Section* ElfFile::find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

std::optional<std::string> ElfFile::section(std::string_view name) const {
  const Section* found = find(name);
  return found == nullptr ? std::nullopt : std::optional(content(*found));
}

std::string ElfFile::build_id() const {
  const Section* found = find(".note.gnu.build-id");
  if (found == nullptr) return {};
  const std::string note = content(*found);
  if (note.size() < sizeof(Elf64_Nhdr)) throw damaged_tables("its build id is cut off");
  const auto header = structures<Elf64_Nhdr>(note).front();
  const uint64_t start = sizeof(Elf64_Nhdr) + (uint64_t{header.n_namesz} + 3) / 4 * 4;
  if (header.n_type != NT_GNU_BUILD_ID || start > note.size() || header.n_descsz > note.size() - start) {
    throw damaged_tables("its build id is damaged");
  }
  std::string hex;
  for (const char byte : note.substr(static_cast<std::size_t>(start), header.n_descsz)) {
    fmt::format_to(std::back_inserter(hex), "{:02x}", static_cast<unsigned char>(byte));
  }
  return hex;
}

}  // namespace tenon::core
