// One atomic file a page.
#include <host/text_pages.hpp>

#include <system_error>

#include <core/storage/atomic_file.hpp>
#include <core/storage/file.hpp>

namespace tenon::host {

void write_pages(const std::filesystem::path& folder, const std::map<std::string, std::string>& pages) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw core::storage_error("make the folder", folder, failure.value(), core::kOutOption);
  for (const auto& [name, text] : pages) core::write_atomically(folder / name, text, core::kOutOption);
}

}  // namespace tenon::host
