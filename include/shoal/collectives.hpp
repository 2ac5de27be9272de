// SPDX-License-Identifier: Apache-2.0
// Collective operations that one task begins, on the objects of a node_local: a value on each node, or a vector. Where
// nodes have more to say to each other, spmd and its team (shoal/team.hpp) are the better form.
//   shoal::node_local<std::uint64_t> counts(0); ...             // each node counts
//   const auto total = shoal::reduce(counts.ref(), std::plus<>{});
//   shoal::exscan(counts.ref(), std::plus<>{});                 // now each has what the nodes before it counted
// Who may call: tasks, while no other task uses the objects. All of them switch tasks.
// Values: trivially copyable, and vectors of such, which have the same size on all nodes where they are combined.
// Errors: vectors of different sizes throw shoal::error (mismatch), as shoal::remote_error. A call to each node, and
// O(log nodes) messages per node. Shown by tests/cluster/collectives_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "shoal/node_local.hpp"
#include "shoal/spmd.hpp"

namespace shoal {

namespace detail {

template <class T>
std::span<T> elements_of(T& value) noexcept {
  return std::span(&value, 1);
}
template <class T>
std::span<T> elements_of(std::vector<T>& values) noexcept {
  return std::span(values);
}

}  // namespace detail

/// Every node has what node `root` has. Vectors get its size.
template <class T>
void broadcast(node_local_ref<T> values, std::uint32_t root = node_id()) {
  spmd([values, root](team& t) { *values = t.broadcast(*values, root); });
}
template <class T>
void broadcast(node_local_ref<std::vector<T>> values, std::uint32_t root = node_id()) {
  spmd([values, root](team& t) {
    values->resize(t.broadcast(values->size(), root));
    t.broadcast(std::span(*values), root);
  });
}

/// The combination of all nodes' values, in ascending order of nodes; of vectors, one by one.
template <class T, class Combine>
T reduce(node_local_ref<T> values, const Combine& combine) {
  return spmd([values, combine, root = node_id()](team& t) {
    T mine = *values;
    t.reduce(detail::elements_of(mine), combine, root);
    return mine;
  });
}
/// The same, put in place on all nodes.
template <class T, class Combine>
void all_reduce(node_local_ref<T> values, const Combine& combine) {
  spmd([values, combine](team& t) { t.all_reduce(detail::elements_of(*values), combine); });
}

/// Each node has the combination of nodes up to itself (scan), or before itself (exscan; node 0 has `first`).
template <class T, class Combine>
void scan(node_local_ref<T> values, const Combine& combine) {
  spmd([values, combine](team& t) { t.scan(detail::elements_of(*values), combine); });
}
template <class T, class Combine>
void exscan(node_local_ref<T> values, const Combine& combine, const T& first = T{}) {
  spmd([values, combine, first](team& t) { *values = t.exscan(*values, combine, first); });
}
template <class T, class Combine>
void exscan(node_local_ref<std::vector<T>> values, const Combine& combine, const T& first = T{}) {
  spmd([values, combine, first](team& t) { t.exscan(std::span(*values), combine, first); });
}

/// The values of all nodes in order of nodes; of vectors, which may have any sizes, as blocks.
template <class T>
std::vector<T> gather(node_local_ref<T> values) {
  return spmd([values, root = node_id()](team& t) { return t.gather(*values, root); });
}
template <class T>
blocks<T> gather(node_local_ref<std::vector<T>> values) {
  return spmd([values, root = node_id()](team& t) { return t.gather(std::span(*values), root); });
}
/// The same, on every node.
template <class T>
void all_gather(node_local_ref<T> values, node_local_ref<std::vector<T>> all) {
  spmd([values, all](team& t) { *all = t.all_gather(*values); });
}
template <class T>
void all_gather(node_local_ref<std::vector<T>> values, node_local_ref<blocks<T>> all) {
  spmd([values, all](team& t) { *all = t.all_gather(std::span(*values)); });
}

/// Each node's vector has a block of the same size for each node; replaces it by the blocks for this node.
template <class T>
void all_to_all(node_local_ref<std::vector<T>> values) {
  spmd([values](team& t) { *values = t.all_to_all(std::span(*values)); });
}
/// The same for counts[n] elements for node n.
template <class T>
void all_to_all(node_local_ref<std::vector<T>> values, node_local_ref<std::vector<std::uint64_t>> counts,
                node_local_ref<blocks<T>> received) {
  spmd([values, counts, received](team& t) { *received = t.all_to_all(std::span(*values), *counts); });
}

}  // namespace shoal
