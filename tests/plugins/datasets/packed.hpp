// Data in packed formats, made without a library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <plugins/datasets/opened.hpp>

namespace tenon::test {

/// CRC-32 of RFC 1952.
inline uint32_t checksum(const std::string& data) {
  uint32_t crc = 0xFFFFFFFFU;
  for (const char c : data) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

/// A member of gzip (RFC 1952) whose data is stored, not compressed.
inline std::string gzip(const std::string& data) {
  std::string packed("\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
  constexpr std::size_t kBlock = 65535;
  for (std::size_t at = 0; at == 0 || at < data.size(); at += kBlock) {
    const std::string block = data.substr(at, kBlock);
    const auto length = static_cast<uint16_t>(block.size());
    packed += at + kBlock >= data.size() ? '\1' : '\0';
    packed += bytes_of(std::vector<uint16_t>{length, static_cast<uint16_t>(~length)}) + block;
  }
  return packed + bytes_of(std::vector<uint32_t>{checksum(data), static_cast<uint32_t>(data.size())});
}

}  // namespace tenon::test
