// Places are sorted, names stay where they are.
#include <index/name_list.hpp>

#include <algorithm>

#include <files/content_hash.hpp>
#include <tenon/error.hpp>
#include <tenon/random.hpp>

namespace tenon::image_datasets {
namespace {

constexpr unsigned kLengthBits = 16;
constexpr uint64_t kLongest = (uint64_t{1} << kLengthBits) - 1;

std::string_view name_at(std::string_view bytes, uint64_t place) noexcept {
  return {bytes.data() + (place >> kLengthBits), place & kLongest};
}

}  // namespace

void NameList::add(std::string_view name) {
  if (name.size() > kLongest) throw Error(ErrorCode::kData, "a name has " + std::to_string(name.size()) + " bytes");
  places_.push_back(uint64_t{bytes_.size()} << kLengthBits | name.size());
  bytes_.append(name);
}

std::string_view NameList::operator[](std::size_t index) const noexcept { return name_at(bytes_, places_[index]); }

void NameList::sort_from(std::size_t first) {
  const auto begin = places_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, places_.end(), [&](uint64_t a, uint64_t b) { return name_at(bytes_, a) < name_at(bytes_, b); });
}

void NameList::shrink() {
  bytes_.shrink_to_fit();
  places_.shrink_to_fit();
}

std::size_t NameList::memory() const noexcept { return bytes_.capacity() + places_.capacity() * sizeof(uint64_t); }

uint64_t NameList::hash() const noexcept {
  uint64_t hash = size();
  for (std::size_t i = 0; i < size(); ++i) {
    const std::string_view name = (*this)[i];
    hash = random_key({hash, datasets::content_hash(std::as_bytes(std::span(name.data(), name.size())))});
  }
  return hash;
}

}  // namespace tenon::image_datasets
