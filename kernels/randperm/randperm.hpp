// SPDX-License-Identifier: Apache-2.0
// Random permutation: result[0..n) becomes a permutation of 0..n-1, each one equally likely.
//   simple   throws darts: each number tries random slots of a board with 2 n slots until one is free; then the board is
//            read in order, without its empty slots. What number is where depends on who comes first.
//   fast     deals the numbers to random buckets that fit a cache, at their owners by one exchange, and shuffles each
//            bucket: no message per number. The result depends on n and the seed alone.
// Sources: the board: bale's randperm; dealing: Rao, "Generation of random permutation of given number of elements using
// random sampling numbers" (1961), Sanders, "Random permutations on distributed, external and hierarchical memory"
// (1998). Who may call: tasks; they switch. Test: tests/cluster/kernels_bale_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::randperm {

using numbers = array_ref<std::uint64_t>;

inline void simple(const numbers& result, std::uint64_t seed) {
  const global_array<std::uint64_t> board(2 * result.size());
  parallel_for(everywhere, result.size(), [board = board.ref(), seed](std::uint64_t i) {
    xoshiro256ss random(seed, i);
    while (board.compare_exchange(random.below(board.size()), 0, i + 1) != 0) {
    }
  });
  spmd([board = board.ref(), result](team& t) {
    std::vector<std::uint64_t> mine;
    for (const std::uint64_t number : board.local())
      if (number != 0) mine.push_back(number - 1);
    result.put(t.exscan(mine.size(), std::plus<>()), std::span<const std::uint64_t>(mine));
  });
}

void fast(const numbers& result, std::uint64_t seed);

}  // namespace shoal::kernels::randperm
