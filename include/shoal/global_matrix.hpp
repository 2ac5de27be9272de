// SPDX-License-Identifier: Apache-2.0
// Matrices over nodes: a global array with two indices.
//   shoal::global_matrix<double> m(rows, columns);                            equal blocks of rows on all nodes
//   shoal::global_matrix<double> g(rows, columns, shoal::grid_blocks());      a block for each process of a square grid
//   shoal::global_matrix<double> s(rows, columns, shoal::grid_cyclic(64, 64, 2, 3));   as ScaLAPACK, on 2 x 3 nodes
//   m->put(r, c, 1.5);  m->get_block(r, c, 10, 20, to, 20);  m->array().fetch_add(m->index(r, c), 1.0);
//   shoal::parallel_for(shoal::blocks_of(m), [](shoal::matrix_block<double> b) {    where they are, in plain memory
//     for (std::uint64_t i = 0; i < b.rows; ++i)
//       for (std::uint64_t j = 0; j < b.columns; ++j) b(i, j) = f(b.row + i, b.column + j); });
// Who may call, guarantees, errors: as of shoal/array.hpp: bare verbs are complete when they return and may switch. The
// handle has 256 bytes. Complexity: an element O(1); a block one bulk copy for each of its rows and process columns.
// Memory: each node as many elements as the one that has most. Shown by tests/cluster/distribution_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "shoal/array.hpp"
#include "shoal/detail/matrix_layout.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

inline matrix_plan row_blocks() noexcept { return {0, 1, 0, 0}; }
/// A grid of down x across nodes, node p * across + q in row p and column q: one block for each. 0: see matrix_plan.
inline matrix_plan grid_blocks(std::uint32_t down = 0, std::uint32_t across = 0) noexcept {
  return {down, across, 0, 0};
}
/// Element (r, c) on process (r / block_rows mod down, c / block_columns mod across). A process keeps its elements row
/// behind row: for ScaLAPACK, which keeps columns, it is the transposed matrix on the transposed grid.
inline matrix_plan grid_cyclic(std::uint64_t block_rows, std::uint64_t block_columns, std::uint32_t down = 0,
                               std::uint32_t across = 0) noexcept {
  return {down, across, std::max<std::uint64_t>(block_rows, 1), std::max<std::uint64_t>(block_columns, 1)};
}

/// Elements of consecutive rows and columns in the memory of their node.
template <class T>
struct matrix_block {
  T* data = nullptr;
  std::uint64_t row = 0;  // of the matrix: of the first element
  std::uint64_t column = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t leading = 0;  // elements from one row to the next

  T& operator()(std::uint64_t i, std::uint64_t j) const noexcept { return data[i * leading + j]; }
};

/// A handle: trivially copyable; valid while the matrix exists.
template <class T>
class matrix_ref {
public:
  using value_type = T;

  matrix_ref() = default;
  matrix_ref(const array_ref<T>& array, const detail::matrix_layout& layout) noexcept
      : array_(array), layout_(layout) {}

  std::uint64_t rows() const noexcept { return layout_.rows.size; }
  std::uint64_t columns() const noexcept { return layout_.columns.size; }
  const detail::matrix_layout& layout() const noexcept { return layout_; }
  /// The array that holds it, for all verbs on elements; it may have more elements than the matrix.
  const array_ref<T>& array() const noexcept { return array_; }
  std::uint64_t index(std::uint64_t r, std::uint64_t c) const noexcept {
    check(r, c, 1, 1);
    return layout_.index(r, c);
  }
  std::uint32_t owner(std::uint64_t r, std::uint64_t c) const noexcept { return array_.owner(index(r, c)); }

  T get(std::uint64_t r, std::uint64_t c) const { return array_.get(index(r, c)); }
  void put(std::uint64_t r, std::uint64_t c, const T& value) const { array_.put(index(r, c), value); }
  void add(std::uint64_t r, std::uint64_t c, T value) const { array_.add(index(r, c), value); }
  void async_get(std::uint64_t r, std::uint64_t c, T* target) const { array_.async_get(index(r, c), target); }
  void async_put(std::uint64_t r, std::uint64_t c, const T& value) const { array_.async_put(index(r, c), value); }
  void async_add(std::uint64_t r, std::uint64_t c, T value) const { array_.async_add(index(r, c), value); }

  /// Copies `height` rows of `width` elements, the first one (r, c), between the matrix and memory whose rows begin
  /// `leading` elements apart.
  void get_block(std::uint64_t r, std::uint64_t c, std::uint64_t height, std::uint64_t width, T* to,
                 std::uint64_t leading) const {
    async_get_block(r, c, height, width, to, leading);
    wait();
  }
  void put_block(std::uint64_t r, std::uint64_t c, std::uint64_t height, std::uint64_t width, const T* from,
                 std::uint64_t leading) const {
    async_put_block(r, c, height, width, from, leading);
    wait();
  }
  /// `to` must live until wait().
  void async_get_block(std::uint64_t r, std::uint64_t c, std::uint64_t height, std::uint64_t width, T* to,
                       std::uint64_t leading) const {
    for_runs(r, c, height, width, [&](std::uint64_t at, std::uint64_t i, std::uint64_t j, std::uint64_t n) {
      array_.async_get(at, std::span<T>(to + i * leading + j, n));
    });
  }
  /// Copies the values before it returns.
  void async_put_block(std::uint64_t r, std::uint64_t c, std::uint64_t height, std::uint64_t width, const T* from,
                       std::uint64_t leading) const {
    for_runs(r, c, height, width, [&](std::uint64_t at, std::uint64_t i, std::uint64_t j, std::uint64_t n) {
      array_.async_put(at, std::span<const T>(from + i * leading + j, n));
    });
  }
  /// A row, or the begin of one.
  void get_row(std::uint64_t r, std::span<T> to) const { get_block(r, 0, 1, to.size(), to.data(), to.size()); }
  void put_row(std::uint64_t r, std::span<const T> from) const {
    put_block(r, 0, 1, from.size(), from.data(), from.size());
  }

  /// Calls f(block) for the blocks in the rows of this node at these positions. Plain memory.
  template <class F>
  void for_local_blocks(const range1d& positions, const F& f) const {
    const auto down = layout_.rows_of(node_id());
    const auto across = layout_.columns_of(node_id());
    T* const data = array_.local().data();
    for (std::uint64_t k = positions.begin(), n = 0; k < positions.end(); k += n) {
      n = run_of(down, k, positions.end());
      for (std::uint64_t j = 0, w = 0; j < across.count; j += w) {
        w = run_of(across, j, across.count);
        f(matrix_block<T>{data + k * layout_.leading + j, down.index(k), across.index(j), n, w, layout_.leading});
      }
    }
  }

private:
  static std::uint64_t run_of(const detail::array_layout::range& r, std::uint64_t k, std::uint64_t end) noexcept {
    return r.stride == 1 ? end - k : std::min(end - k, r.run - k % r.run);
  }
  void check([[maybe_unused]] std::uint64_t r, [[maybe_unused]] std::uint64_t c, [[maybe_unused]] std::uint64_t height,
             [[maybe_unused]] std::uint64_t width) const noexcept {
    SHOAL_CHECK(r <= rows() && height <= rows() - r && c <= columns() && width <= columns() - c,
                "elements are out of the range of their global matrix");
  }
  /// f(index in the array, row and column in the block, elements) for what lies one behind the other on its node.
  template <class F>
  void for_runs(std::uint64_t r, std::uint64_t c, std::uint64_t height, std::uint64_t width, const F& f) const {
    check(r, c, height, width);
    for (std::uint64_t i = 0; i < height; ++i)
      for (std::uint64_t j = 0, n = 0; j < width; j += n) {
        n = std::min(width - j, layout_.columns.run_at(c + j));
        f(layout_.index(r + i, c + j), i, j, n);
      }
  }

  array_ref<T> array_;
  detail::matrix_layout layout_;
};

/// Owner of its memory; move-only. All elements are zero first.
template <class T>
class global_matrix {
public:
  global_matrix() = default;
  /// Throws shoal::error: invalid_argument if the grid has more processes than the job has nodes; out_of_memory.
  global_matrix(std::uint64_t rows, std::uint64_t columns, const matrix_plan& plan = row_blocks())
      : layout_(rows, columns, plan, node_count()),
        array_(layout_.elements(), block_cyclic(std::max<std::uint64_t>(layout_.per_node, 1))),
        ref_(array_, layout_) {}

  matrix_ref<T> ref() const noexcept { return ref_; }
  operator matrix_ref<T>() const noexcept { return ref_; }
  const matrix_ref<T>* operator->() const noexcept { return &ref_; }
  const memory_report& memory() const noexcept { return array_.memory(); }

private:
  detail::matrix_layout layout_;
  global_array<T> array_;
  matrix_ref<T> ref_;
};

/// The place of a loop over the blocks of a matrix where they are.
template <class T>
struct blocks_of {
  blocks_of(const matrix_ref<T>& m) noexcept : matrix(m) {}
  blocks_of(const global_matrix<T>& m) noexcept : matrix(m.ref()) {}
  matrix_ref<T> matrix;
};
template <class T>
blocks_of(const matrix_ref<T>&) -> blocks_of<T>;
template <class T>
blocks_of(const global_matrix<T>&) -> blocks_of<T>;

/// body(matrix_block<T>) for blocks that together are the matrix; a node's workers divide its rows. The options are
/// those of parallel_for(here, range, ...) but for tokens; they travel.
template <class T, class Body, class... Options>
void parallel_for(const blocks_of<T>& blocks, const Body& body, const Options&... options) {
  parallel_for(everywhere, node_count(), [m = blocks.matrix, body, options...](std::uint32_t) {
    const std::uint64_t rows = m.layout().rows_of(node_id()).count;
    parallel_for(
        here, range1d(0, rows), [&](const range1d& part) { m.for_local_blocks(part, body); }, options...);
  });
}

}  // namespace shoal
