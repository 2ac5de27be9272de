// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/validator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::bfs {
namespace {

constexpr std::uint64_t k_checked_together = 4096;  // vertices or edges that are checked as one batch

constexpr auto both = [](const node_verdict& a, const node_verdict& b) {
  // The fault of the lowest rule wins, so the result does not depend on which worker found it.
  const bool take_a = a.fault != tree_fault::none && (b.fault == tree_fault::none || a.fault <= b.fault);
  node_verdict all = take_a ? a : b;
  all.reached = a.reached + b.reached;
  all.traversed = a.traversed + b.traversed;
  all.deepest = std::max(a.deepest, b.deepest);
  return all;
};

/// One node's part of the validation.
template <class Id>
class node_check {
public:
  node_check(const graph_view<Id>& g, std::span<const std::uint64_t> parents, std::uint64_t root)
      : g_(g), parents_(parents), root_(root), implied_(levels_of_tree(root, parents)), confirmed_(g.slots() / 64) {}

  node_verdict tree() const {
    node_verdict v;
    v.fault = implied_.fault;
    v.from = implied_.at;
    return v;
  }

  node_verdict vertices(std::uint64_t begin, std::uint64_t end) const {
    node_verdict mine;
    for (std::uint64_t v = begin; v < end; ++v) {
      const visit here = at(v);
      const bool ask = needs_parent(v, root_, g_.vertices, here);
      fail(mine, check_vertex(v, root_, g_.vertices, here, ask ? at(here.parent) : visit{}), false, v, 0);
      if (!here.reached()) continue;
      ++mine.reached;
      mine.deepest = std::max(mine.deepest, here.level);
    }
    return mine;
  }

  node_verdict edges(std::span<const arc<Id>> some) {
    node_verdict mine;
    for (const auto& [from, to] : some) {
      const auto seen = check_edge({from, to}, at(from), at(to), g_.way);
      fail(mine, seen.fault, true, from, to);
      if (seen.confirms_from) confirm(from);
      if (seen.confirms_to) confirm(to);
      mine.traversed += seen.traversed ? 1 : 0;
    }
    return mine;
  }

  void tell_owners(const array_ref<std::uint64_t>& all) const {
    for (std::uint64_t w = 0; w < confirmed_.size(); ++w)
      if (confirmed_[w] != 0) all.async_bit_or(w, confirmed_[w]);
    wait();
  }

  node_verdict unconfirmed(std::uint64_t begin, std::uint64_t end, std::span<const std::uint64_t> words) const {
    node_verdict mine;
    for (std::uint64_t v = begin; v < end; ++v)
      if (v != root_ && at(v).reached() && (words[(v - begin) / 64] >> v % 64 & 1) == 0)
        fail(mine, tree_fault::no_such_edge, false, v, 0);
    return mine;
  }

private:
  visit at(std::uint64_t v) const { return {parents_[v], implied_.levels[v]}; }

  void confirm(std::uint64_t v) {
    std::atomic_ref word(confirmed_[v / 64]);  // partners: the other workers
    const std::uint64_t bit = std::uint64_t{1} << v % 64;
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  }

  static void fail(node_verdict& mine, tree_fault fault, bool at_edge, std::uint64_t from, std::uint64_t to) {
    if (fault == tree_fault::none || mine.fault != tree_fault::none) return;
    mine.fault = fault;
    mine.at_edge = at_edge;
    mine.from = from;
    mine.to = to;
  }

  const graph_view<Id>& g_;
  std::span<const std::uint64_t> parents_;
  std::uint64_t root_;
  tree_levels implied_;
  std::vector<std::uint64_t> confirmed_;
};

/// Checks all parents.
template <class Id>
void gather(const graph_view<Id>& g, const array_ref<Id>& parents, std::span<std::uint64_t> all) {
  std::vector<Id> some(k_checked_together);
  for (std::uint64_t first = 0; first < g.vertices; first += k_checked_together) {
    const auto part = std::span(some).first(std::min(k_checked_together, g.vertices - first));
    parents.get(first, part);
    std::transform(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first),
                   [](Id p) { return p == graph_view<Id>::k_nobody ? k_no_parent : std::uint64_t{p}; });
  }
}

template <class F>
node_verdict in_pieces(std::uint64_t begin, std::uint64_t end, const F& check) {
  return parallel_reduce(
      here, 0, (end - begin + k_checked_together - 1) / k_checked_together, node_verdict{},
      [&](std::uint64_t i) {
        return check(begin + i * k_checked_together, std::min(end, begin + (i + 1) * k_checked_together));
      },
      both);
}

template <class Id>
node_verdict check_on_node(team& t, const graph_view<Id>& g, const array_ref<Id>& parents, std::uint64_t root,
                           std::span<std::uint64_t> all_parents, const array_ref<std::uint64_t>& confirmed) {
  const auto own_confirmed = confirmed.local();
  std::fill(own_confirmed.begin(), own_confirmed.end(), 0);
  gather(g, parents, all_parents);
  node_check<Id> check(g, all_parents, root);
  node_verdict mine = check.tree();
  t.barrier();                           // all bitmaps are clear
  if (mine.fault == tree_fault::none) {  // the same value on all nodes
    const std::uint64_t begin = std::min<std::uint64_t>(t.rank() * g.block, g.vertices);
    const std::uint64_t end = std::min(begin + g.block, g.vertices);
    mine = in_pieces(begin, end, [&](std::uint64_t from, std::uint64_t to) { return check.vertices(from, to); });
    const auto edges = g.edges.local();
    mine = both(mine, in_pieces(0, edges.size(), [&](std::uint64_t from, std::uint64_t to) {
                  return check.edges(edges.subspan(from, to - from));
                }));
    check.tell_owners(confirmed);
    t.barrier();
    mine = both(mine, check.unconfirmed(begin, end, own_confirmed));
  }
  return mine;
}

}  // namespace

template <class Id>
validator<Id>::validator(const graph_view<Id>& g)
    : graph_(g), all_parents_(g.slots() * node_count()), confirmed_(g.slots() / 64) {}

template <class Id>
tree_verdict validator<Id>::check(const array_ref<Id>& parents, std::uint64_t root) {
  global_array<node_verdict> result(1, distribution::local);
  spmd([g = graph_, parents, root, all = all_parents_.ref(), confirmed = confirmed_.ref(),
        result = result.ref()](team& t) {
    const node_verdict mine = check_on_node(t, g, parents, root, all.local().first(g.vertices), confirmed);
    const node_verdict whole = t.all_reduce(mine, both);
    if (t.rank() == 0) result.put(0, whole);
  });
  const node_verdict found = result->get(0);
  tree_verdict verdict;
  verdict.fault = found.fault;
  verdict.reached = found.reached;
  verdict.traversed = found.traversed;
  verdict.deepest = found.deepest;
  if (found.fault != tree_fault::none) {
    verdict.message =
        found.at_edge ? fmt::format("edge {} - {}: ", found.from, found.to) : fmt::format("vertex {}: ", found.from);
    verdict.message += describe(found.fault);
    if (const int rule = rule_of(found.fault); rule != 0) verdict.message += fmt::format(" (rule {})", rule);
  }
  return verdict;
}

template <class Id>
std::uint64_t count_traversed(const graph_view<Id>& g, const array_ref<Id>& parents) {
  const std::uint64_t ends = parallel_reduce(
      owners_of(parents), g.vertices, std::uint64_t{0},
      [g, parents](std::uint64_t v) -> std::uint64_t {
        const std::uint64_t own = v - g.block * node_id();
        return parents.local()[own] == graph_view<Id>::k_nobody ? 0 : g.input_degrees.local()[own];
      },
      [](std::uint64_t a, std::uint64_t b) { return a + b; });
  return g.way == direction::both ? ends / 2 : ends;
}

template class validator<std::uint32_t>;
template class validator<std::uint64_t>;
template std::uint64_t count_traversed(const graph_view<std::uint32_t>&, const array_ref<std::uint32_t>&);
template std::uint64_t count_traversed(const graph_view<std::uint64_t>&, const array_ref<std::uint64_t>&);

}  // namespace shoal::kernels::bfs
