// Which Debian package brings a library.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

/// A library's file as an installed package has it.
struct PackagedFile {
  std::string package;         ///< "libopencv-core406"
  std::filesystem::path path;  ///< Where it lies.
};

/// The installed packages that have a file of this name, by dpkg's lists in `database`. Empty where dpkg is not.
[[nodiscard]] std::vector<PackagedFile> packages_with(std::string_view file_name,
                                                      const std::filesystem::path& database = "/var/lib/dpkg/info");

/// The name that Debian's policy gives to the package of a soname: "libopencv-core406" for "libopencv_core.so.406".
/// Empty for a name that is none of a library.
[[nodiscard]] std::string package_name(std::string_view soname);

}  // namespace tenon::core
