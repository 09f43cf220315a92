// A file of tokens: numbers one behind the other, as they come out of a tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <files/mapped_file.hpp>
#include <tenon/params.hpp>

namespace tenon::datasets {

enum class TokenType { kUint8, kUint16, kUint32, kInt32, kInt64 };
TENON_ENUM(TokenType, "uint8", "uint16", "uint32", "int32", "int64")

/// Mapped; little-endian numbers, or a .npy file with one axis of them.
class TokenFile {
 public:
  /// `skip`: bytes before the first token of a file that is no .npy.
  /// \throws Error (kData) that names the file, with the pointer of the parameter that lists it: another type, an
  /// incomplete last token.
  TokenFile(const std::filesystem::path& path, const std::string& pointer, TokenType type, int64_t skip);

  [[nodiscard]] int64_t size() const noexcept { return size_; }
  [[nodiscard]] uint64_t hash() const noexcept;
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Writes the tokens from `first` on. [any thread]
  void read(int64_t first, std::span<int64_t> to) const noexcept;

 private:
  std::string name_;
  MappedFile file_;
  TokenType type_;
  std::size_t width_;
  std::size_t offset_ = 0;
  int64_t size_ = 0;
};

}  // namespace tenon::datasets
