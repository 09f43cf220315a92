// Made by mkdtemp, which finds a name that is free.
#include <core/storage/scratch_folder.hpp>

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include <core/storage/file.hpp>

namespace tenon::core {

ScratchFolder::ScratchFolder(const std::filesystem::path& parent, std::string_view prefix) {
  std::string name = (parent / prefix).string() + "XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) throw storage_error("create", name, errno);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace tenon::core
