// SPDX-License-Identifier: Apache-2.0
// Unbalanced tree search: counts the nodes of a tree (tree.hpp) by tasks that run anywhere.
//   simple   a task per node of the tree
//   fast     a task per inner node; a task goes on with one of its children itself, and counts leaves at once
// Workers count apart; the counts of all are added at the end. The verifier compares with the published size of the tree,
// or searches it alone.
// Who may call: a task; it switches.
// Test: tests/cluster/kernels_test.cpp; measured by `shoal uts`.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/uts/tree.hpp"
#include "shoal/anywhere.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"

namespace shoal::kernels::uts {

/// What the tasks need on each node.
struct place {
  explicit place(const tree& to_search) : t(to_search), by_worker(worker_count()) {}
  counts& mine() noexcept { return by_worker[worker_id()].found; }

  struct alignas(64) of_worker {
    counts found;
  };
  tree t;
  std::vector<of_worker> by_worker;
};

struct visit {
  node_local_ref<place> places;
  node n;

  void operator()(anywhere_tasks& tasks) const {
    place& p = *places;
    const std::uint32_t children = p.t.children(n);
    p.mine().visit(n.depth, children);
    for (std::uint32_t i = 0; i < children; ++i) tasks.run(visit{places, tree::child(n, i)});
  }
};

struct search {
  node_local_ref<place> places;
  node n;  // counted already
  std::uint32_t children;

  void operator()(anywhere_tasks& tasks) const {
    constexpr unsigned k_most_steps = 32;  // then others may run
    place& p = *places;
    counts& mine = p.mine();
    search at = *this;
    for (unsigned step = 0; at.children != 0; ++step) {
      if (step == k_most_steps) return tasks.run(at);
      search next{places, at.n, 0};
      for (std::uint32_t i = 0; i < at.children; ++i) {
        const node child = tree::child(at.n, i);
        const std::uint32_t grandchildren = p.t.children(child);
        mine.visit(child.depth, grandchildren);
        if (grandchildren == 0) continue;
        if (next.children != 0) tasks.run(next);
        next.n = child;
        next.children = grandchildren;
      }
      at = next;
    }
  }
};

/// The counts of each node.
template <class Root>
std::vector<counts> by_node(const tree& t, const Root& root) {
  const node_local<place> places(t);
  anywhere_group group;
  group.run(root(places));
  group.wait();
  std::vector<counts> found;
  for (std::uint32_t n = 0; n < node_count(); ++n)
    found.push_back(on(n, [places = places.ref()] {
      counts sum;
      for (const auto& w : places->by_worker) sum.add(w.found);
      return sum;
    }));
  return found;
}

inline std::vector<counts> simple(const tree& t) {
  return by_node(t, [&](const node_local<place>& places) { return visit{places.ref(), t.root()}; });
}

inline std::vector<counts> fast(const tree& t) {
  return by_node(t, [&](const node_local<place>& places) {
    const std::uint32_t children = t.children(t.root());
    places->mine().visit(0, children);
    return search{places.ref(), t.root(), children};
  });
}

inline counts sum_of(const std::vector<counts>& found) {
  counts sum;
  for (const counts& c : found) sum.add(c);
  return sum;
}

}  // namespace shoal::kernels::uts
