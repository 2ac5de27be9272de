// SPDX-License-Identifier: Apache-2.0
// A loop of which 1 % of the iterations have nearly all of the work: the first, the last, a block at a random place, or
// single ones at random places (`scattered`). `even`: all have as much, and as much as the others together. Measures
// how well a parallel loop balances iterations whose costs it does not know.
// An iteration mixes a number so many times; the check compares the sums of all results. Work: rounds of mixing. Shown
// by tests/unit/problems/skew_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

namespace problems::skew {

struct problem {
  static constexpr const char* k_name = "skew";
  static constexpr const char* k_work_unit = "round";
  static constexpr std::uint64_t k_size = 100'000;
  static constexpr std::uint64_t k_test_size = 2'000;
  static constexpr std::array<std::string_view, 5> k_variants{"last", "first", "block", "scattered", "even"};
  using result = std::monostate;  // in the problem itself

  problem(std::uint64_t size, std::size_t which)
      : rounds(size >= 100 && size <= 1'000'000'000
                   ? size
                   : throw std::invalid_argument("the size is how many iterations, 100 to 10^9")),
        results(size) {
    constexpr std::uint32_t k_heavy = 4000;
    std::mt19937_64 random(20240517);
    const std::uint64_t heavy = size / 100;
    const auto fill = [&](std::uint64_t first) {
      std::fill_n(rounds.begin() + static_cast<std::ptrdiff_t>(first), heavy, k_heavy);
    };
    switch (which) {
      case 0: fill(size - heavy); break;
      case 1: fill(0); break;
      case 2: fill(random() % (size - heavy)); break;
      case 3:
        for (std::uint64_t i = 0; i < heavy; ++i) rounds[random() % size] = k_heavy;
        break;
      default: std::fill(rounds.begin(), rounds.end(), k_heavy / 100);
    }
    for (std::uint64_t i = 0; i < size; ++i) {
      expected += mixed(i, rounds[i]);
      total += rounds[i];
    }
  }

  static std::uint64_t mixed(std::uint64_t x, std::uint32_t times) noexcept {
    while (times-- > 0) x = x * 6364136223846793005U + 1442695040888963407U;
    return x;
  }
  void iteration(std::uint64_t i) noexcept { results[i] = mixed(i, rounds[i]); }

  void prepare() { std::fill(results.begin(), results.end(), 0); }
  bool valid(result) const {
    std::uint64_t sum = 0;
    for (const std::uint64_t r : results) sum += r;
    return sum == expected;
  }
  std::uint64_t work(result r) const { return valid(r) ? total : 0; }

  std::vector<std::uint32_t> rounds;  // by iteration
  std::vector<std::uint64_t> results;
  std::uint64_t expected = 0;
  std::uint64_t total = 0;
};

inline void run_serially(problem& p) noexcept {
  for (std::uint64_t i = 0; i < p.results.size(); ++i) p.iteration(i);
}

}  // namespace problems::skew
