// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same on every machine. mix64 is a stateless hash of 64 bits: it gives element i of a
// random sequence without computing the others. splitmix64 is a generator over it, to seed other generators;
// xoshiro256ss (xoshiro256**) is for everything else, one per task or worker: a copy gives the same numbers as the
// original. All are std uniform random bit generators. Not for cryptography.
// Who may call: anyone, hot paths too. Never switches tasks.
// Sources: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014); Blackman, Vigna, "Scrambled
// linear pseudorandom number generators" (2021); Lemire, "Fast random integer generation in an interval" (2019).
// Shown by tests/unit/base/random_test.cpp.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace shoal {

/// A hash of 64 bits; a bijection.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class splitmix64 {
public:
  using result_type = std::uint64_t;

  constexpr explicit splitmix64(std::uint64_t seed) noexcept : state_(seed) {}

  constexpr result_type operator()() noexcept { return mix64(state_ += k_step); }

  /// The result of the n-th call (from 0) of a generator with this seed.
  static constexpr result_type at(std::uint64_t seed, std::uint64_t n) noexcept {
    return mix64(seed + (n + 1) * k_step);
  }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

private:
  static constexpr std::uint64_t k_step = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

class xoshiro256ss {
public:
  using result_type = std::uint64_t;

  constexpr explicit xoshiro256ss(std::uint64_t seed) noexcept {
    splitmix64 fill(seed);
    for (auto& word : state_) word = fill();
  }

  /// Starts with a given state, which must not be all zero.
  constexpr explicit xoshiro256ss(const std::array<std::uint64_t, 4>& state) noexcept : state_(state) {}

  /// Different streams of one seed, for instance one per worker.
  constexpr xoshiro256ss(std::uint64_t seed, std::uint64_t stream) noexcept
      : xoshiro256ss(mix64(seed) ^ splitmix64::at(0, stream)) {}

  constexpr result_type operator()() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound), by multiplication instead of division. Exactly uniform; bound must not be 0.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    auto product = wide{(*this)()} * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t surplus = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < surplus) product = wide{(*this)()} * bound;
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1), with 53 bits.
  constexpr double unit() noexcept { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

  static constexpr result_type min() noexcept { return 0; }
  static constexpr result_type max() noexcept { return ~result_type{0}; }

private:
  __extension__ using wide = unsigned __int128;
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace shoal
