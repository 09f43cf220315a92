// A folder of pages that the program writes of itself.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace tenon::host {

/// Writes each text into the folder under its name; makes the folder where it is missing and leaves other files there.
/// \throws Error (kStorage) naming what cannot be written.
void write_pages(const std::filesystem::path& folder, const std::map<std::string, std::string>& pages);

}  // namespace tenon::host
