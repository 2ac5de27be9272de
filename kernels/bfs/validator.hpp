// SPDX-License-Identifier: Apache-2.0
// Validates a search by Graph500's five rules (kernels/bfs/rules.hpp), on all nodes concurrently. Every node
// collects all parents and computes the levels that they imply. It checks its own vertices and its share of the input's
// edges, and reports which tree edges its edges confirm.
// Who may call: a task; check() switches. The graph must have been built with keep_edges.
// Limit: memory per node is 16 bytes per vertex of the whole graph and a few bits.
// Test: tests/cluster/bfs_test.cpp, which also checks that wrong trees are detected.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/bfs/distributed_graph.hpp"
#include "kernels/bfs/rules.hpp"
#include "shoal/array.hpp"

namespace shoal::kernels::bfs {

/// The result of one node.
struct node_verdict {
  tree_fault fault = tree_fault::none;
  bool at_edge = false;  // false: at vertex `from`
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t reached = 0;
  std::uint64_t traversed = 0;
  std::uint64_t deepest = 0;
};

template <class Id>
class validator {
public:
  explicit validator(const graph_view<Id>& g);
  tree_verdict check(const array_ref<Id>& parents, std::uint64_t root);

private:
  graph_view<Id> graph_;
  global_array<std::uint64_t> all_parents_;  // parents of all vertices, on every node
  global_array<std::uint64_t> confirmed_;    // bitmap by vertex
};

extern template class validator<std::uint32_t>;
extern template class validator<std::uint64_t>;

/// The number of input edges in the searched component, by which Graph500 divides. Does not validate.
template <class Id>
std::uint64_t count_traversed(const graph_view<Id>& g, const array_ref<Id>& parents);

extern template std::uint64_t count_traversed(const graph_view<std::uint32_t>&, const array_ref<std::uint32_t>&);
extern template std::uint64_t count_traversed(const graph_view<std::uint64_t>&, const array_ref<std::uint64_t>&);

}  // namespace shoal::kernels::bfs
