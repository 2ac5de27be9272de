// SPDX-License-Identifier: Apache-2.0
// Heat on a square plate with cold edges: each sweep sets every inner cell to the mean of its four neighbours, from one
// grid to another. There is one loop over rows per sweep, and many sweeps: the time depends on workers getting the same
// rows again. The plate starts with sin x sin y, the slowest mode; each sweep multiplies it by cos(pi / (n - 1)). So
// the state after any number of sweeps is known, and a single missed cell in one sweep is detected.
// Work: cells computed. Source: SYSTEMS: Chasapis 2014 (heat 2048). Test: tests/unit/problems/heat_test.cpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

namespace problems::heat {

/// The minimum number of rows per task, for partitioners and schedules that take a grain.
inline constexpr std::size_t k_grain_rows = 16;

class plate {
public:
  explicit plate(std::size_t n) : n_(n), now_(n * n), next_(n * n) { reset(); }

  std::size_t n() const noexcept { return n_; }
  /// Inner rows: [1, n - 1).
  std::size_t first_row() const noexcept { return 1; }
  std::size_t last_row() const noexcept { return n_ - 1; }

  void reset() {
    const std::vector<double> s = shape();
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) now_[i * n_ + j] = next_[i * n_ + j] = s[i] * s[j];
    sweeps_ = 0;
  }

  /// The leaf: rows [first, last) of one sweep.
  void update_rows(std::size_t first, std::size_t last) noexcept {
    for (std::size_t i = first; i < last; ++i) {
      const double* const above = now_.data() + (i - 1) * n_;
      const double* const row = now_.data() + i * n_;
      const double* const below = now_.data() + (i + 1) * n_;
      double* __restrict const out = next_.data() + i * n_;
      for (std::size_t j = 1; j + 1 < n_; ++j) out[j] = 0.25 * ((above[j] + below[j]) + (row[j - 1] + row[j + 1]));
    }
  }

  /// Called between two sweeps, when all rows are done.
  void end_sweep() noexcept {
    std::swap(now_, next_);
    ++sweeps_;
  }

  /// Compares each cell with its exact value after `sweeps` sweeps.
  bool is_right(std::size_t sweeps) const {
    if (sweeps_ != sweeps) return false;
    const std::vector<double> s = shape();
    const double factor = std::cos(std::numbers::pi / static_cast<double>(n_ - 1));
    const double left = std::pow(factor, static_cast<double>(sweeps));
    // A cell that missed a sweep has an error of 1 - factor. The tolerance is below what remains of it after later
    // sweeps have spread it, and far above rounding errors.
    const double tolerance = (1 - factor) * 1e-4;
    for (std::size_t i = 0; i < n_; ++i) {
      for (std::size_t j = 0; j < n_; ++j) {
        const double expected = left * s[i] * s[j];
        if (!(std::fabs(now_[i * n_ + j] - expected) <= tolerance * expected)) return false;
      }
    }
    return true;
  }

private:
  // Symmetric to the last bit, and exactly zero at both ends.
  std::vector<double> shape() const {
    std::vector<double> s(n_);
    for (std::size_t i = 0; i < n_; ++i)
      s[i] = std::sin(std::numbers::pi * static_cast<double>(std::min(i, n_ - 1 - i)) / static_cast<double>(n_ - 1));
    return s;
  }

  std::size_t n_;
  std::vector<double> now_;
  std::vector<double> next_;
  std::size_t sweeps_ = 0;
};

inline void sweep_serially(plate& p, std::size_t sweeps) noexcept {
  for (std::size_t k = 0; k < sweeps; ++k) {
    p.update_rows(p.first_row(), p.last_row());
    p.end_sweep();
  }
}

struct problem {
  static constexpr const char* k_name = "heat";
  static constexpr const char* k_work_unit = "cell";
  static constexpr std::uint64_t k_size = 2048;
  static constexpr std::uint64_t k_test_size = 200;
  static constexpr std::size_t k_sweeps = 50;
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size)
      : grid(size >= 8 && size <= 16384
                 ? size
                 : throw std::invalid_argument("the size is the rows and columns of the plate, 8 to 16384")) {}

  void prepare() { grid.reset(); }
  bool valid(result) const { return grid.is_right(k_sweeps); }
  std::uint64_t work(result) const { return (grid.n() - 2) * (grid.n() - 2) * k_sweeps; }

  plate grid;
};

}  // namespace problems::heat
