// What fingerprints know of files whose content is too much to be read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

namespace tenon::image_datasets {

/// A hash of the sizes in bytes of `count` files in their order, and of 4 KiB from the middle of 64 of them, which lie
/// at even distances. Neither names, which are relative to `folder` or absolute, nor times enter it. A file that is
/// not there or may not be read counts as one of another size than any that can be.
/// `name` is called on many threads, for a number below `count`. \throws Error (as unreadable() says) where the machine
/// keeps from a look, as for want of file handles.
[[nodiscard]] uint64_t hash_of_files(const std::filesystem::path& folder, std::size_t count,
                                     const std::function<std::string_view(std::size_t)>& name);

}  // namespace tenon::image_datasets
