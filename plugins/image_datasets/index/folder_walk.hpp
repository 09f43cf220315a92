// Image files of a folder and of those below it, without a look at any file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <index/name_list.hpp>

namespace tenon::image_datasets {

/// What lies in a folder, hidden entries left out. Links count as what they lead to.
struct Listing {
  std::vector<std::string> folders;   ///< Sorted by their bytes.
  std::vector<std::string> files;     ///< Likewise.
  std::vector<std::string> specials;  ///< Likewise: pipes, sockets and devices.
};

/// \throws Error (kData) naming the folder, with the pointer of the parameter that holds its path.
[[nodiscard]] Listing list_folder(const std::filesystem::path& folder, const std::string& pointer);

/// Ends of file names that count as images.
class Extensions {
 public:
  /// \throws Error (kConfig), pointer "/extensions/…", for one that does not begin with a point.
  explicit Extensions(std::vector<std::string> extensions);

  [[nodiscard]] bool match(std::string_view name) const noexcept;

 private:
  std::vector<std::string> extensions_;  // in lower case
};

/// The usual ends: .jpg .jpeg .png .webp .bmp .tif .tiff .pbm .pgm .ppm .jp2.
[[nodiscard]] std::vector<std::string> usual_extensions();

/// Entries of one sort.
struct Entries {
  int64_t count = 0;
  std::string one;  ///< The first of them by its name's bytes.

  void add(const std::string& name) {
    if (++count == 1 || name < one) one = name;
  }
};

/// Files found, and what was passed over.
struct Found {
  NameList files;      ///< Relative to the folder where the walk began, with "/" between.
  int64_t others = 0;  ///< Files whose names are not those of images.
  std::string other;   ///< One of these.
  Entries specials;    ///< Pipes, sockets and devices.
  Entries loops;       ///< Links that lead back to a folder above them, and were not followed.
  Entries folders;     ///< Folders that are called as images are: what lies in them counts.
};

/// Adds the images of `root`/`below` and of the folders in it, as "`below`/…", sorted by bytes among each other.
/// `below` may be empty. \throws Error (kData, or as unreadable() says) naming the folder that cannot be read.
void walk_images(const std::filesystem::path& root, const std::string& below, const Extensions& extensions,
                 const std::string& pointer, Found& found);

/// Remarks on what was passed over, one a sort.
[[nodiscard]] std::vector<std::string> remarks_of(const Found& found, const std::filesystem::path& root);

}  // namespace tenon::image_datasets
