// A shared library's dynamic symbols and loading facts as the dynamic loader sees them, read without loading it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <core/plugin/dynamic_tables.hpp>

namespace tenon::core {

/// A symbol that a library asks for or offers.
struct DynamicSymbol {
  std::string name;     ///< Mangled.
  std::string version;  ///< "GLIBCXX_3.4.30", or empty.
  bool weak = false;    ///< Weak, or of vague linkage (STB_GNU_UNIQUE): one of several equal copies.
  bool bound = false;   ///< Some relocation of the library itself looks it up by name.
};

/// Whether a library defines a symbol, and how.
enum class Definition {
  kNone,
  kVague,  ///< Weak or unique, as inline functions and templates are: any of several copies does.
  kStrong,
};

/// A name, and a version unless that is empty, to look for in many libraries: hashed once. The texts outlive it.
struct SoughtSymbol {
  explicit SoughtSymbol(std::string_view sought, std::string_view of_version = {}) noexcept;

  std::string_view name;
  std::string_view version;
  uint32_t gnu_hash = 0;
};

/// A 64-bit ELF library by its program headers, in small plain reads: nothing of it is mapped, and of a library of
/// hundreds of megabytes a few pages are read. Every number in the file is distrusted. One thread at a time.
/// Constructor and members throw Refusal with the reasons of ElfFile.
class DynamicImage {
 public:
  explicit DynamicImage(const std::filesystem::path& path);
  ~DynamicImage();
  DynamicImage(DynamicImage&&) noexcept;
  DynamicImage& operator=(DynamicImage&&) noexcept;

  [[nodiscard]] const std::filesystem::path& path() const noexcept;

  [[nodiscard]] const std::vector<std::string>& needed() const noexcept;
  [[nodiscard]] const std::string& soname() const noexcept;
  [[nodiscard]] const std::string& rpath() const noexcept;    ///< As written; empty where there is a RUNPATH.
  [[nodiscard]] const std::string& runpath() const noexcept;  ///< As written.
  [[nodiscard]] bool executable_stack() const noexcept;       ///< Asked for, or not denied.
  [[nodiscard]] bool text_relocations() const noexcept;
  [[nodiscard]] bool nodelete() const noexcept;
  [[nodiscard]] bool symbolic() const noexcept;  ///< Its own definitions come first (-Bsymbolic).

  /// Symbols that it does not define. Weak ones may stay without a definition.
  [[nodiscard]] const std::vector<DynamicSymbol>& undefined() const;

  /// Symbols that it defines for others.
  [[nodiscard]] const std::vector<DynamicSymbol>& defined() const;

  [[nodiscard]] const std::vector<DemandedVersion>& demanded_versions() const;

  /// Versions that it defines.
  [[nodiscard]] const std::vector<std::string>& offered_versions() const;

  /// What the loader would find here for that name and version (empty: none was asked for). Through the library's hash
  /// table.
  [[nodiscard]] Definition find(std::string_view name, std::string_view version = {}) const {
    return find(SoughtSymbol(name, version));
  }
  [[nodiscard]] Definition find(const SoughtSymbol& symbol) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tenon::core
