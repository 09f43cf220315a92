// What a shared library's program headers and dynamic section say: names of libraries, flags, and where its tables lie.
#pragma once

#include <elf.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <core/plugin/file_pages.hpp>

namespace tenon::core {

/// Symbol versions that a library demands of another one.
struct DemandedVersion {
  std::string library;  ///< Soname of the other one.
  std::string version;
  bool weak = false;
};

/// The file read by bounded reads, with every number in it distrusted. Functions and constructor throw Refusal
/// ("truncated", "corrupt", "unreadable"). One thread at a time.
class DynamicTables {
 public:
  explicit DynamicTables(const std::filesystem::path& path);

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return pages_.path(); }

  /// The structure at a place of the file.
  template <class T>
  [[nodiscard]] T at(uint64_t offset) const {
    T value{};
    pages_.read(offset, std::as_writable_bytes(std::span(&value, 1)));
    return value;
  }

  template <class T>
  [[nodiscard]] std::vector<T> list(uint64_t offset, uint64_t count) const {
    require_within(offset, count, sizeof(T));
    std::vector<T> values(static_cast<std::size_t>(count));
    if (!values.empty()) pages_.read(offset, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// A text of the string table.
  [[nodiscard]] std::string text(uint64_t offset) const;

  /// Whether the text at an offset of the string table is this one; reads no more than needed.
  [[nodiscard]] bool is_text(uint64_t offset, std::string_view wanted) const;

  // Places in the file; 0 where there is no such table.
  uint64_t symbols = 0;
  uint64_t hash = 0;
  uint64_t gnu_hash = 0;
  uint64_t versions = 0;
  uint64_t relocations = 0, relocations_size = 0;
  uint64_t plt_relocations = 0, plt_relocations_size = 0;

  std::vector<std::string> needed;
  std::string soname, rpath, runpath;
  bool executable_stack = true;  ///< The kernel's default where nothing is said.
  bool text_relocations = false;
  bool nodelete = false;
  bool symbolic = false;
  std::vector<DemandedVersion> demanded;
  std::vector<std::string> offered;
  std::unordered_map<uint16_t, std::string> version_names;  ///< By index, of both kinds.

 private:
  void require_within(uint64_t offset, uint64_t count, std::size_t size) const;
  [[nodiscard]] uint64_t offset_of(uint64_t address) const;
  void read_dynamic(const Elf64_Phdr& segment);
  void read_offered();
  void read_demanded();
  void add_version(uint16_t index, const std::string& name);

  FilePages pages_;
  std::vector<Elf64_Phdr> loads_;
  uint64_t strings_ = 0, strings_size_ = 0;
  mutable uint64_t given_ = 0;  // bytes of all texts that were asked for
  uint64_t offered_ = 0, offered_count_ = 0;
  uint64_t demanded_ = 0, demanded_count_ = 0;
};

}  // namespace tenon::core
