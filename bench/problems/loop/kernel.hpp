// SPDX-License-Identifier: Apache-2.0
// A loop of very many iterations with almost no work: iteration i adds 1 to the i-th number. Measures the overhead of a
// parallel loop; the compiler vectorizes the body if the construct permits. The numbers are short, so that memory
// limits less. They are not bytes, because byte stores could alias the loop's own variables.
// Verified: every iteration was executed once. Work: iterations. Test: tests/unit/problems/loop_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <variant>
#include <vector>

namespace problems::loop {

using mark = std::uint16_t;
using marks = std::vector<mark>;

/// The leaf of loops with a call per index. `at` points to the marks' data.
inline void iteration(mark* at, std::size_t i) noexcept { ++at[i]; }

/// The leaf of loops that pass sub-ranges.
inline void iterations(mark* at, std::size_t first, std::size_t last) noexcept {
  for (std::size_t i = first; i < last; ++i) iteration(at, i);
}

inline void run_serially(marks& m) noexcept { iterations(m.data(), 0, m.size()); }

struct problem {
  static constexpr const char* k_name = "loop";
  static constexpr const char* k_work_unit = "iteration";
  static constexpr std::uint64_t k_size = 10'000'000;
  static constexpr std::uint64_t k_test_size = 100'000;
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size)
      : all(size >= 1 && size <= 10'000'000'000
                ? size
                : throw std::invalid_argument("the size is the number of iterations, 1 to 10^10")) {}

  void prepare() { std::fill(all.begin(), all.end(), mark{0}); }
  bool valid(result) const {
    return std::all_of(all.begin(), all.end(), [](mark x) { return x == 1; });
  }
  std::uint64_t work(result) const { return static_cast<std::uint64_t>(std::count(all.begin(), all.end(), mark{1})); }

  marks all;
};

}  // namespace problems::loop
