// SPDX-License-Identifier: Apache-2.0
// Gather: values[i] = table[indices[i]] for all i. The indices are random, and each node reads those that it holds, and
// holds the values of the same i. This is the common measure of small remote reads: bale's ig.
//   simple   a loop over the indices, with one asynchronous get each, into the node's own memory
//   fast     the same over spans of the node's memory: nothing is looked up for each index
// The table has a random number in each element, so the check needs no table: values[i] must be the number of the index.
// Who may call: tasks; they switch. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "kernels/random/indices.hpp"
#include "shoal/array.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::gather {

using numbers = array_ref<std::uint64_t>;

inline void simple(const numbers& table, const numbers& indices, const numbers& values) {
  parallel_for(owners_of(indices), indices.size(), [table, indices, values](std::uint64_t i) {
    const std::uint64_t mine = i - indices.local_range().first;
    table.async_get(indices.local()[mine], &values.local()[mine]);
  });
}

inline void fast(const numbers& table, const numbers& indices, const numbers& values) {
  parallel_for(everywhere, node_count(), [table, indices, values](std::uint32_t) {
    const std::span<const std::uint64_t> from = indices.local();
    const std::span<std::uint64_t> to = values.local();
    parallel_for(range1d(0, from.size()), [table, from, to](const range1d& part) {
      for (std::uint64_t i = part.begin(); i < part.end(); ++i) table.async_get(from[i], &to[i]);
    });
  });
}

inline std::uint64_t element_at(std::uint64_t i) noexcept { return mix64(i + 1); }

inline void fill_table(const numbers& table) {
  parallel_for(owners_of(table), table.size(), [table](std::uint64_t i) { table.async_put(i, element_at(i)); });
}

/// How many values are not the elements of their indices, which are those of random_indices::fill().
inline std::uint64_t count_wrong(const numbers& values, std::uint64_t table_size, std::uint64_t seed) {
  return parallel_reduce(
      owners_of(values), values.size(), std::uint64_t{0},
      [values, table_size, seed](std::uint64_t i) -> std::uint64_t {
        return values.get(i) != element_at(random_indices::index_at(seed, i, table_size)) ? 1 : 0;
      },
      std::plus<>());
}

}  // namespace shoal::kernels::gather
