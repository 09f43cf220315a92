// Pages are read when they are first asked for; what is longer than one is read past them.
#include <core/plugin/file_pages.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include <core/plugin/refusal.hpp>

namespace tenon::core {

FilePages::FilePages(std::filesystem::path path) : path_(std::move(path)) {
  try {
    OpenedFile opened = open_for_reading(path_, ErrorCode::kPlugin);
    file_ = std::move(opened.file);
    size_ = opened.size;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kStorage) throw;  // this process may open no more: no fault of the file
    throw Refusal("unreadable", error.what());
  }
}

void FilePages::read(uint64_t offset, std::span<std::byte> into) const {
  if (offset > size_ || into.size() > size_ - offset) {
    throw Refusal("truncated", fmt::format("it was cut off: {} bytes should be at byte {}, but the file has {}; build "
                                           "or copy it again",
                                           into.size(), offset, size_));
  }
  if (into.size() > kPage) return read_file(offset, into);
  while (!into.empty()) {
    const std::vector<std::byte>& page = page_of(offset / kPage);
    const auto start = static_cast<std::size_t>(offset % kPage);
    const std::size_t count = std::min(into.size(), page.size() - start);
    std::memcpy(into.data(), page.data() + start, count);
    into = into.subspan(count);
    offset += count;
  }
}

void FilePages::read_file(uint64_t offset, std::span<std::byte> into) const {
  try {
    read_at(file_, offset, into, path_, ErrorCode::kPlugin);
  } catch (const Error& error) {
    throw Refusal("unreadable", error.what());
  }
}

std::span<const std::byte> FilePages::piece(uint64_t offset) const {
  if (offset >= size_) return {};
  return std::span(page_of(offset / kPage)).subspan(static_cast<std::size_t>(offset % kPage));
}

const std::vector<std::byte>& FilePages::page_of(uint64_t number) const {
  if (latest_page_ != nullptr && latest_ == number) return *latest_page_;
  auto found = pages_.find(number);
  if (found == pages_.end()) {
    std::vector<std::byte> page(static_cast<std::size_t>(std::min(kPage, size_ - number * kPage)));
    read_file(number * kPage, page);
    found = pages_.emplace(number, std::move(page)).first;
  }
  latest_ = number;
  latest_page_ = &found->second;
  return *latest_page_;
}

}  // namespace tenon::core
