// SPDX-License-Identifier: Apache-2.0
// Fibonacci numbers by their definition, one task per call and no cut-off: only spawning and joining.
// Work: spawns. Each call with n >= 2 spawns one task for fib(n - 1), calls fib(n - 2) itself and waits. There are
// fib(n + 1) - 1 such calls. The result is the number of leaves with n == 1, so it is wrong if a call is missing.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace problems::fib {

inline std::uint64_t serial(unsigned n) { return n < 2 ? n : serial(n - 1) + serial(n - 2); }

struct problem {
  static constexpr const char* k_name = "fib";
  static constexpr const char* k_work_unit = "spawn";
  static constexpr std::uint64_t k_size = 33;
  static constexpr std::uint64_t k_test_size = 18;
  using result = std::uint64_t;

  explicit problem(std::uint64_t size) : n(static_cast<unsigned>(size)) {
    if (size < 2 || size > 50) throw std::invalid_argument("the size is the index of the Fibonacci number, 2 to 50");
    std::uint64_t next = 1;
    for (unsigned i = 0; i < n; ++i) {
      const std::uint64_t sum = expected + next;
      expected = next;
      next = sum;
    }
    spawns = next - 1;
  }

  bool valid(result r) const { return r == expected; }
  std::uint64_t work(result r) const { return r == expected ? spawns : 0; }

  unsigned n;
  std::uint64_t expected = 0;
  std::uint64_t spawns = 0;
};

}  // namespace problems::fib
