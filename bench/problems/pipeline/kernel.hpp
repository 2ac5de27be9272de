// SPDX-License-Identifier: Apache-2.0
// A pipeline of three stages: a source gives numbers, a parallel stage computes on each, the last stage takes the
// results in the order of the source. At most k_tokens items exist. The grain is the number of rounds of the
// computation, of about a nanosecond each; 0: what the pipeline itself costs.
// Work: items. The check: the checksum of the results in their order. Test: tests/unit/problems/pipeline_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace problems::pipeline {

inline std::uint64_t computed(std::uint64_t x, std::uint64_t rounds) noexcept {
  for (std::uint64_t i = 0; i <= rounds; ++i) x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9;
  return x;
}

/// What the last stage does with each result.
inline void take(std::uint64_t& checksum, std::uint64_t x) noexcept { checksum = (checksum ^ x) * 0x94d049bb133111eb; }

struct problem {
  static constexpr const char* k_name = "pipeline";
  static constexpr const char* k_work_unit = "item";
  static constexpr std::uint64_t k_size = 1'000'000;
  static constexpr std::uint64_t k_test_size = 10'000;
  static constexpr std::uint64_t k_grain = 1000;
  static constexpr std::size_t k_tokens = 64;
  using result = std::uint64_t;

  explicit problem(std::uint64_t size, std::uint64_t rounds_per_item = k_grain) : items(size), rounds(rounds_per_item) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is the number of items, 1 to 10^9");
    for (std::uint64_t i = 0; i < items; ++i) take(expected_, computed(i, rounds));
  }

  bool valid(result checksum) const noexcept { return checksum == expected_; }
  std::uint64_t work(result checksum) const noexcept { return checksum == expected_ ? items : 0; }

  std::uint64_t items;
  std::uint64_t rounds;

private:
  std::uint64_t expected_ = 0;
};

}  // namespace problems::pipeline
