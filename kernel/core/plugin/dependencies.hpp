// Which files the dynamic loader would take for the libraries that a plugin needs, found without opening any.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <core/plugin/symbols.hpp>

namespace tenon::core {

/// A library that some file needs and that is nowhere, or whose file is no use.
struct MissingLibrary {
  std::string name;                          ///< As it is asked for: "libopencv_core.so.406".
  std::vector<std::filesystem::path> chain;  ///< Who needs it: the file first asked about, …, the one that asks.
  std::vector<std::string> looked;           ///< Where it was looked for, in order: "RUNPATH /opt/lib", "ld.so.cache".
  std::string damage;                        ///< Why the file that was found is of no use; empty where none was.
  std::optional<std::filesystem::path> found;  ///< That file.
};

/// The libraries that the process has, or will have, when it opens plugins, and the loader's rules to find others.
/// Answers are kept, so one object serves all plugins of a command. One thread at a time.
class LibraryMap {
 public:
  /// The libraries of this very process as they are now; of them, those that the program was started with are looked at
  /// first for any symbol.
  LibraryMap();

  /// For tests: a process without libraries, with these folders in place of the system's own.
  explicit LibraryMap(std::vector<std::filesystem::path> system_folders);

  /// As if that library had been opened, with all that it needs: what asks for its soname gets it. What is missing is
  /// given back. \throws Refusal for a file that is no library.
  std::vector<MissingLibrary> open(const std::filesystem::path& library);

  /// All that would be opened for a library, itself first, in the loader's order of symbol search (breadth first);
  /// and what is missing for it. Does not open it.
  struct Closure {
    std::vector<const DynamicImage*> libraries;
    std::vector<MissingLibrary> missing;
  };
  [[nodiscard]] Closure closure(const std::filesystem::path& library);

  /// Libraries that the program was started with, in the loader's order of symbol search.
  [[nodiscard]] const std::vector<const DynamicImage*>& global() const noexcept { return global_; }

  /// It is in the process already, or will be.
  [[nodiscard]] bool is_open(const DynamicImage& library) const noexcept { return opened_.contains(&library); }

 private:
  struct Request;
  struct Answer;

  const DynamicImage& image_of(const std::filesystem::path& file);
  [[nodiscard]] Answer find(const std::string& name, const Request& asking);
  [[nodiscard]] Answer look_in(const std::string& list, std::string_view origin_of, std::string_view what,
                               const std::string& name, Answer answer);
  [[nodiscard]] Answer try_file(const std::filesystem::path& file, Answer answer);
  void add_open(const DynamicImage& library, const std::vector<std::string>& names);
  Closure walk(const std::filesystem::path& library);

  std::vector<std::filesystem::path> system_folders_;
  std::map<std::string, std::filesystem::path, std::less<>> cache_;  // /etc/ld.so.cache: soname, file
  std::string library_path_;                                         // LD_LIBRARY_PATH
  std::string program_rpath_;
  std::filesystem::path program_;
  std::deque<DynamicImage> images_;
  std::map<std::filesystem::path, const DynamicImage*> by_path_;
  std::map<std::pair<uint64_t, uint64_t>, const DynamicImage*> by_file_;  // device, inode
  std::map<std::string, const DynamicImage*, std::less<>> by_name_;       // names of what is open
  std::map<const DynamicImage*, bool> opened_;
  std::vector<const DynamicImage*> global_;
};

/// soname → file of a cache that ldconfig wrote, for this machine's architecture; empty for text that is none.
[[nodiscard]] std::map<std::string, std::filesystem::path, std::less<>> parse_loader_cache(std::string_view bytes);

}  // namespace tenon::core
