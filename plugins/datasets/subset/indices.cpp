// Numbers from .npy or from text.
#include <subset/indices.hpp>

#include <charconv>
#include <cstring>
#include <string_view>

#include <csv/problems.hpp>
#include <files/mapped_file.hpp>
#include <files/npy_array.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

template <class T>
std::vector<int64_t> numbers(std::span<const std::byte> data) {
  std::vector<T> values(data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

std::vector<int64_t> from_npy(const MappedFile& file, const std::string& name, const std::string& pointer) {
  const NpyArray array = read_npy(file.bytes(), name, pointer);
  const NpyHeader& header = array.header;
  if (header.shape.size() == 1 && header.dtype == Dtype::kInt64) return numbers<int64_t>(array.data);
  if (header.shape.size() == 1 && header.dtype == Dtype::kInt32) return numbers<int32_t>(array.data);
  throw Error(
      ErrorCode::kData,
      name + ": holds " + npy_text(header.dtype, header.shape) + ", but a list of items is int64[n] or int32[n]",
      pointer);
}

std::string_view trimmed(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1);
}

}  // namespace

std::vector<int64_t> read_indices(const std::filesystem::path& path, const std::string& pointer) {
  const MappedFile file(path, pointer);
  if (path.extension() == ".npy") return from_npy(file, path.string(), pointer);
  std::vector<int64_t> indices;
  int64_t line = 1;
  for (std::string_view rest = file.text(); !rest.empty(); ++line) {
    const std::size_t end = rest.find('\n');
    const std::string_view number = trimmed(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (number.empty()) continue;
    int64_t index = 0;
    const auto [stopped, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || stopped != number.data() + number.size()) {
      throw Error(ErrorCode::kData,
                  path.string() + ":" + std::to_string(line) + ": " + shown(number) +
                      " is no index: write one whole number a line",
                  pointer);
    }
    indices.push_back(index);
  }
  return indices;
}

}  // namespace tenon::datasets
