// Widening numbers to int64.
#include <tokens/token_file.hpp>

#include <cstring>
#include <string_view>

#include <files/content_hash.hpp>
#include <files/npy_header.hpp>
#include <tenon/error.hpp>

namespace tenon::datasets {
namespace {

std::size_t width_of(TokenType type) {
  switch (type) {
    case TokenType::kUint8: return 1;
    case TokenType::kUint16: return 2;
    case TokenType::kUint32:
    case TokenType::kInt32: return 4;
    case TokenType::kInt64: return 8;
  }
  return 1;
}

std::string_view code_of(TokenType type) {
  switch (type) {
    case TokenType::kUint8: return "u1";
    case TokenType::kUint16: return "u2";
    case TokenType::kUint32: return "u4";
    case TokenType::kInt32: return "i4";
    case TokenType::kInt64: return "i8";
  }
  return "";
}

template <class T>
void widen(const std::byte* from, std::span<int64_t> to) noexcept {
  for (std::size_t i = 0; i < to.size(); ++i) {
    T token;
    std::memcpy(&token, from + i * sizeof(T), sizeof(T));
    to[i] = static_cast<int64_t>(token);
  }
}

}  // namespace

TokenFile::TokenFile(const std::filesystem::path& path, const std::string& pointer, TokenType type, int64_t skip)
    : name_(path.string()), file_(path, pointer), type_(type), width_(width_of(type)) {
  const auto fail = [&](const std::string& why, const std::string& place) {
    throw Error(ErrorCode::kData, name_ + ": " + why, place);
  };
  const std::string& wanted = tenon_enum_names(type).names[static_cast<std::size_t>(type)];
  const std::size_t bytes = file_.bytes().size();
  if (file_.text().starts_with("\x93NUMPY")) {
    NpyLayout layout;
    try {
      layout = parse_npy_layout(file_.text());
    } catch (const Error& error) {
      fail(error.what(), pointer);
    }
    if (layout.code != code_of(type)) fail("holds numbers of type " + layout.descr + ", not " + wanted, "/dtype");
    if (layout.shape.size() != 1) {
      fail("has " + std::to_string(layout.shape.size()) + " axes, but tokens lie on one: save a.reshape(-1)", pointer);
    }
    offset_ = layout.data_offset;
    if (static_cast<uint64_t>(layout.shape[0]) != (bytes - offset_) / width_) fail("is cut off or too long", pointer);
  } else {
    if (static_cast<uint64_t>(skip) > bytes) {
      fail("has " + std::to_string(bytes) + " bytes, fewer than \"skip_bytes\": " + std::to_string(skip),
           "/skip_bytes");
    }
    offset_ = static_cast<std::size_t>(skip);
  }
  if ((bytes - offset_) % width_ != 0) {
    fail("its " + std::to_string(bytes - offset_) + " bytes are no whole number of " + wanted +
             " tokens: it is cut off, or of another type, or has a header (see \"skip_bytes\")",
         pointer);
  }
  size_ = static_cast<int64_t>((bytes - offset_) / width_);
}

uint64_t TokenFile::hash() const noexcept { return sampled_hash(file_.bytes().subspan(offset_)); }

void TokenFile::read(int64_t first, std::span<int64_t> to) const noexcept {
  const std::byte* const from = file_.bytes().data() + offset_ + static_cast<std::size_t>(first) * width_;
  switch (type_) {
    case TokenType::kUint8: return widen<uint8_t>(from, to);
    case TokenType::kUint16: return widen<uint16_t>(from, to);
    case TokenType::kUint32: return widen<uint32_t>(from, to);
    case TokenType::kInt32: return widen<int32_t>(from, to);
    case TokenType::kInt64: return widen<int64_t>(from, to);
  }
}

}  // namespace tenon::datasets
