// SPDX-License-Identifier: Apache-2.0
// Transposition of a dense matrix in a global array, row behind row, into another one:
//   shoal::transpose(target, source, rows, columns);      target[c * rows + r] = source[r * columns + c]
// Who may call: tasks, while no other task uses the arrays, which are different ones. Switches tasks.
// Complexity: each element is moved once, by bulk copies of runs. With at least as many rows as columns each node sends
// tiles of the source, else each node fetches tiles of the target; a run has up to 128 elements: as many as the node
// has rows. Memory: 64 KiB for each of two tasks per worker. A cyclic or block-cyclic array on several nodes on that
// side: a copy of it. Errors: shoal::error (invalid_argument: not rows * columns elements; out_of_memory).
// Shown by tests/cluster/algorithms_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "shoal/array.hpp"
#include "shoal/detail/block_division.hpp"
#include "shoal/detail/ordered_parts.hpp"
#include "shoal/error.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

namespace detail {

struct matrix_tile {
  std::uint64_t row = 0;
  std::uint64_t column = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
};

/// Elements [first, first + count) of a matrix that is stored row behind row, as tiles: the rest of the first row,
/// whole rows, the begin of the last row.
class tile_list {
public:
  tile_list(std::uint64_t first, std::uint64_t count, std::uint64_t width, std::uint64_t most_rows,
            std::uint64_t most_columns) noexcept
      : most_rows_(most_rows), most_columns_(most_columns) {
    for (std::size_t k = 0; count > 0; ++k) {
      const std::uint64_t column = first % width;
      matrix_tile& t = rectangles_[k];
      t = {first / width, column, 1, std::min(width - column, count)};
      if (t.columns == width) t.rows = count / width;
      first += t.rows * t.columns;
      count -= t.rows * t.columns;
    }
  }
  std::uint64_t size() const noexcept {
    std::uint64_t sum = 0;
    for (const matrix_tile& t : rectangles_) sum += down(t) * across(t);
    return sum;
  }
  matrix_tile operator[](std::uint64_t k) const noexcept {
    const matrix_tile* t = rectangles_.data();
    for (; k >= down(*t) * across(*t); ++t) k -= down(*t) * across(*t);
    const std::uint64_t row = k / across(*t) * most_rows_;
    const std::uint64_t column = k % across(*t) * most_columns_;
    return {t->row + row, t->column + column, std::min(most_rows_, t->rows - row),
            std::min(most_columns_, t->columns - column)};
  }

private:
  std::uint64_t down(const matrix_tile& t) const noexcept { return (t.rows + most_rows_ - 1) / most_rows_; }
  std::uint64_t across(const matrix_tile& t) const noexcept { return (t.columns + most_columns_ - 1) / most_columns_; }

  std::uint64_t most_rows_;
  std::uint64_t most_columns_;
  std::array<matrix_tile, 3> rectangles_{};
};

/// to[j * to_stride + i] = from[i * from_stride + j]
template <class T>
void transpose_tile(T* to, std::uint64_t to_stride, const T* from, std::uint64_t from_stride, std::uint64_t rows,
                    std::uint64_t columns) noexcept {
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < columns; ++j) to[j * to_stride + i] = from[i * from_stride + j];
}

/// On each node work(tile, room of a tile, own elements, index of the first) for the tiles of its part of `array`, a
/// matrix of `width` columns; two tasks of a worker at once, so that one may wait.
template <class T, class Work>
void for_tiles(const array_ref<T>& array, std::uint64_t width, const Work& work) {
  parallel_for(everywhere, node_count(), [array, width, work](std::uint32_t) {
    constexpr std::uint64_t k_tile_bytes = 64 << 10;
    constexpr std::uint64_t k_rows = std::clamp<std::uint64_t>(k_tile_bytes / sizeof(T), 1, 128);
    constexpr std::uint64_t k_columns = std::max<std::uint64_t>(k_tile_bytes / sizeof(T) / k_rows, 1);
    const std::span<T> own = array.local();
    const std::uint64_t first = array.local_range().first;
    const tile_list tiles(first, own.size(), width, k_rows, k_columns);
    const block_division division(tiles.size(), 1, 2 * worker_count());
    division.run([&](std::size_t block) {
      // NOLINTNEXTLINE(modernize-avoid-c-arrays): a vector of bool has no elements
      const auto room = std::make_unique<T[]>(k_rows * k_columns);
      for (std::size_t k = division.begin(block); k < division.begin(block + 1); ++k)
        work(tiles[k], room.get(), own.data(), first);
    });
  });
}

inline void require_shape(std::uint64_t size, std::uint64_t rows, std::uint64_t columns) {
  if (columns == 0 || rows == 0 ? size == 0 : size % columns == 0 && size / columns == rows) return;
  throw error(errc::invalid_argument, "an array of " + std::to_string(size) + " elements is no matrix of " +
                                          std::to_string(rows) + " rows and " + std::to_string(columns) +
                                          " columns; give a shape of as many elements");
}

}  // namespace detail

template <detail::global_elements Target, detail::global_elements Source>
requires std::same_as<detail::element_in<Target>, detail::element_in<Source>>
void transpose(const Target& target, const Source& source, std::uint64_t rows, std::uint64_t columns) {
  using element = detail::element_in<Target>;
  using detail::matrix_tile;
  const auto to = detail::handle_of(target);
  const auto from = detail::handle_of(source);
  detail::require_shape(from.size(), rows, columns);
  detail::require_shape(to.size(), columns, rows);
  if (from.empty()) return;
  SHOAL_ASSERT(to.id() != from.id(), "source and target of a transposition are the same array");
  if (rows >= columns) {
    const detail::parts_in_order<element> ordered(from, node_count() > 1);
    detail::for_tiles(
        ordered.ref(), columns,
        [to, rows, columns](const matrix_tile& t, element* room, element* own, std::uint64_t first) {
          detail::transpose_tile(room, t.rows, own + (t.row * columns + t.column - first), columns, t.rows, t.columns);
          for (std::uint64_t c = 0; c < t.columns; ++c)
            to.async_put((t.column + c) * rows + t.row, std::span<const element>(room + c * t.rows, t.rows));
        });
  } else {
    const detail::parts_in_order<element> ordered(to, node_count() > 1);
    detail::for_tiles(
        ordered.ref(), rows,
        [from, rows, columns](const matrix_tile& t, element* room, element* own, std::uint64_t first) {
          for (std::uint64_t r = 0; r < t.columns; ++r)
            from.async_get((t.column + r) * columns + t.row, std::span<element>(room + r * t.rows, t.rows));
          wait();
          detail::transpose_tile(own + (t.row * rows + t.column - first), rows, room, t.rows, t.columns, t.rows);
        });
    ordered.put_back();
  }
}

}  // namespace shoal
