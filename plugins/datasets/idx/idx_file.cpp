// Reading idx: http://yann.lecun.com/exdb/mnist describes it.
#include <idx/idx_file.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>

#include <files/gzip.hpp>
#include <files/mapped_file.hpp>
#include <tenon/error.hpp>
#include <tenon/spec.hpp>

namespace tenon::datasets {
namespace {

using Bytes = std::span<const std::byte>;

std::optional<Dtype> dtype_of_code(std::byte code) {
  switch (std::to_integer<int>(code)) {
    case 0x08: return Dtype::kUint8;
    case 0x09: return Dtype::kInt8;
    case 0x0B: return Dtype::kInt16;
    case 0x0C: return Dtype::kInt32;
    case 0x0D: return Dtype::kFloat32;
    case 0x0E: return Dtype::kFloat64;
    default: return std::nullopt;
  }
}

std::string first_bytes(Bytes bytes) {
  std::string text;
  for (const std::byte each : bytes.first(std::min<std::size_t>(bytes.size(), 4))) {
    char digits[4];
    std::snprintf(digits, sizeof(digits), "%02x ", std::to_integer<unsigned>(each));
    text += digits;
  }
  return text.empty() ? "nothing" : text.substr(0, text.size() - 1);
}

int64_t big_endian_32(Bytes bytes) {
  int64_t number = 0;
  for (const std::byte each : bytes.first(4)) number = number * 256 + std::to_integer<int64_t>(each);
  return number;
}

void to_native(std::vector<std::byte>& data, std::size_t width) {
  if (width == 1) return;
  for (auto at = data.begin(); at != data.end(); at += static_cast<std::ptrdiff_t>(width)) {
    std::reverse(at, at + static_cast<std::ptrdiff_t>(width));
  }
}

}  // namespace

IdxFile read_idx(const std::filesystem::path& path, const std::string& pointer) {
  const auto fail = [&](const std::string& why) { throw Error(ErrorCode::kData, path.string() + ": " + why, pointer); };
  const MappedFile mapped(path, pointer);
  std::vector<std::byte> unpacked;
  const bool packed = is_gzip(mapped.bytes());
  if (packed) unpacked = gunzip(mapped.bytes(), path.string(), pointer);
  const Bytes bytes = packed ? Bytes(unpacked) : mapped.bytes();
  const std::string unit = packed ? " bytes once unpacked" : " bytes";

  const bool has_magic = bytes.size() >= 4 && bytes[0] == std::byte{0} && bytes[1] == std::byte{0};
  const std::optional<Dtype> dtype = has_magic ? dtype_of_code(bytes[2]) : std::nullopt;
  if (!dtype || bytes[3] == std::byte{0}) {
    fail("is no idx file: it begins with " + first_bytes(bytes) +
         ", but idx with 00 00, a type (08, 09, 0b to 0e) and the number of axes");
  }
  IdxFile file;
  file.dtype = *dtype;
  const auto axes = std::to_integer<std::size_t>(bytes[3]);
  const std::size_t header = 4 + 4 * axes;
  if (bytes.size() < header) {
    fail("is cut off: its header of " + std::to_string(axes) + " axes takes " + std::to_string(header) +
         " bytes, and it has " + std::to_string(bytes.size()) + unit);
  }
  auto expected = static_cast<int64_t>(size_of(file.dtype));
  for (std::size_t axis = 0; axis < axes; ++axis) {
    file.shape.push_back(big_endian_32(bytes.subspan(4 + 4 * axis)));
    if (__builtin_mul_overflow(expected, file.shape.back(), &expected)) fail("is damaged: its axes are too large");
  }
  const Bytes data = bytes.subspan(header);
  if (static_cast<uint64_t>(expected) != data.size()) {
    fail((static_cast<uint64_t>(expected) > data.size() ? "is cut off: " : "is too long: ") +
         to_string({{}, file.dtype, {file.shape.begin(), file.shape.end()}}) + " takes " +
         std::to_string(header + static_cast<std::size_t>(expected)) + " bytes with its header, and it has " +
         std::to_string(bytes.size()) + unit);
  }
  file.data.assign(data.begin(), data.end());
  to_native(file.data, size_of(file.dtype));
  return file;
}

}  // namespace tenon::datasets
