// Image files of a folder and of those below it, without a look at any file.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <index/name_list.hpp>

namespace tenon::image_datasets {

/// What lies in a folder, hidden entries left out. Links count as what they lead to.
struct Listing {
  std::vector<std::string> folders;  ///< Sorted by their bytes.
  std::vector<std::string> files;    ///< Likewise.
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

/// Files found, and what was passed over.
struct Found {
  NameList files;      ///< Relative to the folder where the walk began, with "/" between.
  int64_t others = 0;  ///< Files whose names are not those of images.
  std::string other;   ///< One of these.
};

/// Adds the images of `root`/`below` and of the folders in it, as "`below`/…", sorted by bytes among each other.
/// `below` may be empty. \throws Error (kData) naming the folder that cannot be read, or the link that leads round.
void walk_images(const std::filesystem::path& root, const std::string& below, const Extensions& extensions,
                 const std::string& pointer, Found& found);

/// A remark on files that were left out, or nothing.
[[nodiscard]] std::vector<std::string> remarks_of(const Found& found, const std::filesystem::path& root);

}  // namespace tenon::image_datasets
