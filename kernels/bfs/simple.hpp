// SPDX-License-Identifier: Apache-2.0
// Breadth-first search, the simple form: a queue of levels (shoal/global_queue.hpp). Each vertex of a level is searched at
// its owner, where its row is plain memory; it claims all its neighbours at once, by asynchronous compare-exchange, and
// queues those that nobody has claimed before. The fast form: fast.hpp.
// Who may call: a task; it switches. Returns the number of levels; parents[v] is k_nobody for unreached v.
// Source: Morari 2014, figure 5.2. Test: tests/cluster/bfs_test.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bfs/distributed_graph.hpp"
#include "shoal/array.hpp"
#include "shoal/global_queue.hpp"

namespace shoal::kernels::bfs {

template <class Id>
std::uint64_t simple_search(const graph_view<Id>& g, const array_ref<Id>& parents, std::uint64_t root) {
  constexpr Id nobody = graph_view<Id>::k_nobody;
  const global_queue<Id> queue;
  parents.fill(nobody);
  parents.put(root, static_cast<Id>(root));
  queue->async_push(g.rows.owner(root), static_cast<Id>(root));
  return queue.run([rows = g.rows, parents, queue = queue.ref()](Id v) {
    const auto row = rows.neighbours(v);
    std::vector<Id> before(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) parents.async_compare_exchange(row[i], nobody, v, &before[i]);
    wait();
    for (std::size_t i = 0; i < row.size(); ++i)
      if (before[i] == nobody) queue.async_push(rows.owner(row[i]), row[i]);
  });
}

}  // namespace shoal::kernels::bfs
