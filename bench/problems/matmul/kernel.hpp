// SPDX-License-Identifier: Apache-2.0
// Matrix product C = A B of doubles, in tiles of C of 128 x 128, one task per tile. Within a tile, blocks of A and B
// are packed so that the innermost loop reads both sequentially from the caches and keeps 6 x 2 vectors of C in
// registers. The vector length is that of the compiler's target, the same for every runtime. The matrices contain small
// integers, so the product and the check by random vectors are exact.
// A leaf must not wait: its packed blocks belong to the thread. Work: multiply-adds.
// Source: Goto and van de Geijn, TOMS 2008; Freivalds 1977. Test: tests/unit/problems/matmul_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <variant>
#include <vector>

namespace problems::matmul {

#ifdef __AVX512F__
inline constexpr std::size_t k_vector_bytes = 64;
#else
inline constexpr std::size_t k_vector_bytes = 32;
#endif

typedef double vector [[gnu::vector_size(k_vector_bytes)]];
inline constexpr std::size_t k_lanes = k_vector_bytes / sizeof(double);
inline constexpr std::size_t k_rows = 6;               // of C in registers
inline constexpr std::size_t k_columns = 2 * k_lanes;  // of C in registers
inline constexpr std::size_t k_depth = 128;            // of the packed blocks
inline constexpr std::size_t k_tile = 128;             // rows and columns of a tile of C: a leaf

/// A square matrix, stored row by row. `n` is a multiple of k_tile.
struct matrix {
  explicit matrix(std::size_t size) : n(size), cells(size * size) {}
  double* row(std::size_t i) noexcept { return cells.data() + i * n; }
  const double* row(std::size_t i) const noexcept { return cells.data() + i * n; }

  std::size_t n;
  std::vector<double> cells;
};

/// Integers from -8 to 7.
inline void fill(matrix& m, std::uint64_t seed) noexcept {
  std::uint64_t state = seed * 2 + 1;
  for (double& cell : m.cells) {
    state = state * 6364136223846793005 + 1442695040888963407;
    cell = static_cast<double>(static_cast<int>(state >> 60) - 8);
  }
}

struct packed {
  alignas(64) std::array<double, k_tile * k_depth> a;  // in groups of k_rows rows, column by column
  alignas(64) std::array<double, k_depth * k_tile> b;  // in groups of k_columns columns, row by row
};

/// C += A B for a block of C that fits into registers.
template <std::size_t Rows>
inline void multiply_piece(const double* a, const double* b, std::size_t depth, double* c,
                           std::size_t stride) noexcept {
  vector sum[Rows][2] = {};
  for (std::size_t k = 0; k < depth; ++k) {
    vector left, right;
    std::memcpy(&left, b + k * k_columns, sizeof left);
    std::memcpy(&right, b + k * k_columns + k_lanes, sizeof right);
#pragma GCC unroll 8
    for (std::size_t i = 0; i < Rows; ++i) {
      const double factor = a[k * Rows + i];
      sum[i][0] += factor * left;
      sum[i][1] += factor * right;
    }
  }
#pragma GCC unroll 8
  for (std::size_t i = 0; i < Rows; ++i) {
#pragma GCC unroll 2
    for (std::size_t half = 0; half < 2; ++half) {
      vector old;
      std::memcpy(&old, c + i * stride + half * k_lanes, sizeof old);
      old += sum[i][half];
      std::memcpy(c + i * stride + half * k_lanes, &old, sizeof old);
    }
  }
}

/// Packs rows [row, row + rows) of `m`, `depth` columns starting at `column`, column by column.
inline void pack_columns(const matrix& m, std::size_t row, std::size_t rows, std::size_t column, std::size_t depth,
                         double* to) noexcept {
  for (std::size_t i = 0; i < rows; ++i) {
    const double* const from = m.row(row + i) + column;
    for (std::size_t k = 0; k < depth; ++k) to[k * rows + i] = from[k];
  }
}

/// The leaf: computes tile (`tile_row`, `tile_column`) of `c`.
inline void multiply_tile(const matrix& a, const matrix& b, matrix& c, std::size_t tile_row,
                          std::size_t tile_column) noexcept {
  constexpr std::size_t k_whole_rows = k_tile / k_rows * k_rows;
  thread_local packed pieces;
  const std::size_t n = a.n;
  const std::size_t first_row = tile_row * k_tile;
  const std::size_t first_column = tile_column * k_tile;
  for (std::size_t i = 0; i < k_tile; ++i) std::fill_n(c.row(first_row + i) + first_column, k_tile, 0.0);
  for (std::size_t from = 0; from < n; from += k_depth) {
    const std::size_t depth = std::min(k_depth, n - from);
    for (std::size_t i = 0; i < k_tile; i += k_rows)
      pack_columns(a, first_row + i, std::min(k_rows, k_tile - i), from, depth, pieces.a.data() + i * depth);
    for (std::size_t k = 0; k < depth; ++k) {
      const double* const row = b.row(from + k) + first_column;
      for (std::size_t j = 0; j < k_tile; j += k_columns)
        std::memcpy(pieces.b.data() + j * depth + k * k_columns, row + j, k_columns * sizeof(double));
    }
    for (std::size_t j = 0; j < k_tile; j += k_columns) {
      const double* const strip = pieces.b.data() + j * depth;
      double* const to = c.row(first_row) + first_column + j;
      for (std::size_t i = 0; i < k_whole_rows; i += k_rows)
        multiply_piece<k_rows>(pieces.a.data() + i * depth, strip, depth, to + i * n, n);
      if constexpr (k_whole_rows < k_tile)
        multiply_piece<k_tile - k_whole_rows>(pieces.a.data() + k_whole_rows * depth, strip, depth,
                                              to + k_whole_rows * n, n);
    }
  }
}

inline void multiply_serially(const matrix& a, const matrix& b, matrix& c) noexcept {
  for (std::size_t i = 0; i < a.n / k_tile; ++i)
    for (std::size_t j = 0; j < a.n / k_tile; ++j) multiply_tile(a, b, c, i, j);
}

inline std::vector<double> times(const matrix& m, const std::vector<double>& x) {
  std::vector<double> y(m.n);
  for (std::size_t i = 0; i < m.n; ++i)
    for (std::size_t k = 0; k < m.n; ++k) y[i] += m.row(i)[k] * x[k];
  return y;
}

/// Checks C x = A (B x) for random integer vectors x with elements below 2^20: a wrong product passes with a
/// probability below one in a million, each time. All sums are exact up to n = 2^13.
inline bool is_product(const matrix& a, const matrix& b, const matrix& c) {
  std::uint64_t state = 1;
  for (int round = 0; round < 3; ++round) {
    std::vector<double> x(a.n);
    for (double& one : x) {
      state = state * 6364136223846793005 + 1442695040888963407;
      one = static_cast<double>(state >> 44);
    }
    if (times(c, x) != times(a, times(b, x))) return false;
  }
  return true;
}

struct problem {
  static constexpr const char* k_name = "matmul";
  static constexpr const char* k_work_unit = "multiply-add";
  static constexpr std::uint64_t k_size = 1024;
  static constexpr std::uint64_t k_test_size = 256;
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size)
      : a(size % k_tile == 0 && size >= k_tile && size <= 8192
              ? size
              : throw std::invalid_argument("the size is the rows of the matrices, a multiple of 128 up to 8192")),
        b(size),
        c(size) {
    fill(a, 1);
    fill(b, 2);
  }

  std::size_t tiles() const { return a.n / k_tile; }  // in a row, and in a column
  void prepare() { std::fill(c.cells.begin(), c.cells.end(), -1.0); }
  bool valid(result) const { return is_product(a, b, c); }
  std::uint64_t work(result) const { return std::uint64_t{a.n} * a.n * a.n; }

  matrix a;
  matrix b;
  matrix c;
};

}  // namespace problems::matmul
