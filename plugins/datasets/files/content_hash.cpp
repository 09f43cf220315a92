// XXH64 by its specification.
#include <files/content_hash.hpp>

#include <array>
#include <bit>
#include <cstdio>
#include <cstring>

namespace tenon::datasets {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87U;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4FU;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9U;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63U;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5U;

template <class T>
uint64_t load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

constexpr uint64_t round(uint64_t lane, uint64_t word) noexcept {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

constexpr uint64_t merge(uint64_t hash, uint64_t lane) noexcept { return (hash ^ round(0, lane)) * kPrime1 + kPrime4; }

}  // namespace

uint64_t content_hash(std::span<const std::byte> data, uint64_t seed) noexcept {
  const std::byte* at = data.data();
  std::size_t left = data.size();
  uint64_t hash = seed + kPrime5;
  if (left >= 32) {
    std::array<uint64_t, 4> lanes{seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
    for (; left >= 32; at += 32, left -= 32) {
      for (std::size_t lane = 0; lane < 4; ++lane) lanes[lane] = round(lanes[lane], load<uint64_t>(at + 8 * lane));
    }
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const uint64_t lane : lanes) hash = merge(hash, lane);
  }
  hash += data.size();
  for (; left >= 8; at += 8, left -= 8) {
    hash = std::rotl(hash ^ round(0, load<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  for (; left >= 4; at += 4, left -= 4) {
    hash = std::rotl(hash ^ (load<uint32_t>(at) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  for (; left > 0; ++at, --left) hash = std::rotl(hash ^ (load<uint8_t>(at) * kPrime5), 11) * kPrime1;
  hash = (hash ^ (hash >> 33U)) * kPrime2;
  hash = (hash ^ (hash >> 29U)) * kPrime3;
  return hash ^ (hash >> 32U);
}

uint64_t sampled_hash(std::span<const std::byte> data) noexcept {
  constexpr std::size_t kPiece = 4096;
  constexpr std::size_t kPieces = 16384;
  if (data.size() <= kPiece * kPieces) return content_hash(data);
  uint64_t hash = data.size();
  const std::size_t last = data.size() - kPiece;
  for (std::size_t i = 0; i < kPieces; ++i) {
    // In two steps, since last · i may be more than 2^64.
    const std::size_t at = last / (kPieces - 1) * i + last % (kPieces - 1) * i / (kPieces - 1);
    hash = content_hash(data.subspan(at, kPiece), hash);
  }
  return hash;
}

std::string hex(uint64_t hash) {
  std::array<char, 17> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace tenon::datasets
