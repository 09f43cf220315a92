// Keyed randomness: numbers depend on a key alone, never on the thread or on the order of calls.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tenon {

/// A 64-bit key made of parts such as (seed, node, epoch, sample). Equal parts give equal keys on every machine.
[[nodiscard]] uint64_t random_key(std::initializer_list<uint64_t> parts) noexcept;

/// A stable 64-bit hash of a name (FNV-1a), to be a part of a key.
[[nodiscard]] constexpr uint64_t name_key(std::string_view name) noexcept {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return hash;
}

/// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter-based generator.
/// The engine hands out an Rng that is keyed already; a component draws from it and never seeds it. Integer and uniform
/// draws are defined to the bit. Not thread-safe: one Rng belongs to one call.
class Rng {
 public:
  explicit Rng(uint64_t key, uint64_t stream = 0) noexcept;

  /// 32 fresh bits.
  uint32_t bits() noexcept;

  /// Uniform in [0, 1), with 53 bits.
  double uniform() noexcept;

  /// Uniform in [low, high). `low` when the interval is empty.
  double uniform(double low, double high) noexcept { return low + (high - low) * uniform(); }

  /// Uniform in {low, …, high}, both included, without bias. `low` when high < low.
  int64_t integer(int64_t low, int64_t high) noexcept;

  /// True with the given probability.
  bool chance(double probability) noexcept { return uniform() < probability; }

  /// Standard normal, by Box and Muller; equal on machines with the same libm.
  double normal() noexcept;

 private:
  uint64_t wide() noexcept;
  void refill() noexcept;

  std::array<uint32_t, 2> key_;
  std::array<uint32_t, 4> counter_;
  std::array<uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace tenon
