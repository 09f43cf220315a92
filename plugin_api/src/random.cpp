// Philox4x32-10 and the mixing of keys.
#include <tenon/random.hpp>

#include <cmath>
#include <numbers>

namespace tenon {
namespace {

/// The finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
uint64_t mix(uint64_t value) noexcept {
  value = (value ^ (value >> 30U)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27U)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31U);
}

constexpr uint32_t low(uint64_t value) noexcept { return static_cast<uint32_t>(value); }
constexpr uint32_t high(uint64_t value) noexcept { return static_cast<uint32_t>(value >> 32U); }

}  // namespace

uint64_t random_key(std::initializer_list<uint64_t> parts) noexcept {
  uint64_t key = 0;
  for (const uint64_t part : parts) {
    key = mix(key + 0x9e3779b97f4a7c15U + mix(part + 0x9e3779b97f4a7c15U));
  }
  return key;
}

Rng::Rng(uint64_t key, uint64_t stream) noexcept
    : key_{low(key), high(key)}, counter_{0, 0, low(stream), high(stream)} {}

void Rng::refill() noexcept {
  std::array<uint32_t, 4> x = counter_;
  std::array<uint32_t, 2> k = key_;
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53U} * x[0];
    const uint64_t second = uint64_t{0xCD9E8D57U} * x[2];
    x = {high(second) ^ x[1] ^ k[0], low(second), high(first) ^ x[3] ^ k[1], low(first)};
    k[0] += 0x9E3779B9U;
    k[1] += 0xBB67AE85U;
  }
  block_ = x;
  used_ = 0;
  if (++counter_[0] == 0) ++counter_[1];
}

uint32_t Rng::bits() noexcept {
  if (used_ == 4) refill();
  return block_[static_cast<std::size_t>(used_++)];
}

uint64_t Rng::wide() noexcept {
  const uint64_t first = bits();
  return (uint64_t{bits()} << 32U) | first;
}

double Rng::uniform() noexcept { return static_cast<double>(wide() >> 11U) * 0x1.0p-53; }

int64_t Rng::integer(int64_t lowest, int64_t highest) noexcept {
  if (highest <= lowest) return lowest;
  const uint64_t range = static_cast<uint64_t>(highest) - static_cast<uint64_t>(lowest) + 1;
  if (range == 0) return static_cast<int64_t>(wide());  // all of int64
  const uint64_t limit = -range % range;                // values below it would be drawn once too often
  uint64_t draw = wide();
  while (draw < limit) draw = wide();
  return static_cast<int64_t>(static_cast<uint64_t>(lowest) + draw % range);
}

double Rng::normal() noexcept {
  const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace tenon
