// SPDX-License-Identifier: Apache-2.0
// Which vertices of other nodes the rows of a node name, and which nodes need the values of its own.
// Who may call: tasks; make_halo() switches. Shown by tests/cluster/graph_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "shoal/array.hpp"
#include "shoal/detail/graph_rows.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

/// A node that has copies of some of this node's values.
template <class Id>
struct halo_receiver {
  std::uint32_t node = 0;
  std::uint64_t place = 0;   // of the first copy, in the receiver's values
  std::vector<Id> vertices;  // counted from this node's first
};

template <class Id>
struct halo_part {
  std::vector<Id> ghosts;  // ascending, so that those of one owner are together
  std::vector<Id> places;  // per arc; empty on the only node: there the targets are the places
  std::vector<halo_receiver<Id>> receivers;
};

/// A set of vertices with the rank of each.
class vertex_ranks {
public:
  explicit vertex_ranks(std::uint64_t vertices) : words_((vertices + 63) / 64), before_(words_.size()) {}

  /// Partners: the other workers.
  void insert(std::uint64_t v) noexcept {
    std::atomic_ref word(words_[v / 64]);
    const std::uint64_t bit = std::uint64_t{1} << v % 64;
    if ((word.load(std::memory_order_relaxed) & bit) == 0) word.fetch_or(bit, std::memory_order_relaxed);
  }
  /// After all insertions: how many there are.
  std::uint64_t count() noexcept {
    std::uint64_t sum = 0;
    for (std::size_t w = 0; w < words_.size(); ++w)
      before_[w] = sum, sum += static_cast<std::uint64_t>(std::popcount(words_[w]));
    return sum;
  }
  /// Of members: how many are less.
  std::uint64_t rank(std::uint64_t v) const noexcept {
    const std::uint64_t below = words_[v / 64] & ((std::uint64_t{1} << v % 64) - 1);
    return before_[v / 64] + static_cast<std::uint64_t>(std::popcount(below));
  }
  template <class F>
  void for_each(const F& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w)
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1)
        f(w * 64 + static_cast<std::uint64_t>(std::countr_zero(word)));
  }

private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint64_t> before_;
};

/// Copies in a receiver that one owner is to renew.
struct halo_wish {
  std::uint64_t begin = 0;  // in the receiver's ghosts
  std::uint64_t count = 0;
};

template <class Id>
void find_ghosts(const graph_rows<Id, void>& g, halo_part<Id>& part) {
  const auto own = g.local();
  vertex_ranks others(g.vertices);
  parallel_for(here, own.first, own.last, [&](std::uint64_t v) {
    for (const Id u : own.neighbours(v))
      if (!own.contains(u)) others.insert(u);
  });
  part.ghosts.reserve(others.count());
  others.for_each([&](std::uint64_t v) { part.ghosts.push_back(static_cast<Id>(v)); });
  part.places.resize(std::max<std::uint64_t>(own.arcs(), 1));
  parallel_for(here, own.first, own.last, [&](std::uint64_t v) {
    std::uint64_t at = own.offsets[v - own.first];
    for (const Id u : own.neighbours(v))
      part.places[at++] = static_cast<Id>(own.contains(u) ? u - own.first : own.size() + others.rank(u));
  });
}

/// Fills the parts of all nodes; returns the bounds of the nodes' places in an array of values.
template <class Id>
std::vector<std::uint64_t> make_halo(const graph_rows<Id, void>& g, node_local_ref<halo_part<Id>> parts) {
  const std::uint64_t nodes = node_count();
  if (nodes == 1 || g.vertices == 0) return {0, g.vertices};
  global_array<std::uint64_t> counts(nodes);
  global_array<halo_wish> wishes(nodes * nodes);  // element owner * nodes + receiver, at the owner
  spmd([g, parts, counts = counts.ref(), wishes = wishes.ref()](team& t) {
    find_ghosts(g, *parts);
    const auto& ghosts = parts->ghosts;
    counts.local()[0] = ghosts.size();
    for (std::size_t begin = 0, end = 0; begin < ghosts.size(); begin = end) {
      const std::uint32_t owner = g.degrees.owner(ghosts[begin]);
      const auto there = g.degrees.layout().local_range(owner);
      end = static_cast<std::size_t>(std::ranges::lower_bound(ghosts, there.first + there.count) - ghosts.begin());
      wishes.async_put(std::uint64_t{owner} * t.size() + t.rank(), halo_wish{begin, end - begin});
    }
  });
  std::vector<std::uint64_t> ghosts(nodes + 1);
  counts->get(0, std::span(ghosts).subspan(1));
  std::vector<std::uint64_t> bounds(nodes + 1);
  for (std::uint32_t n = 0; n < nodes; ++n)
    bounds[n + 1] = bounds[n] + ghosts[n + 1] + g.degrees.layout().local_range(n).count;
  std::partial_sum(ghosts.begin(), ghosts.end(), ghosts.begin());
  if (ghosts.back() == 0) return bounds;
  global_array<Id> lists(ghosts.back(), blocks_at(ghosts));
  spmd([g, parts, wishes = wishes.ref(), lists = lists.ref()](team& t) {
    std::ranges::copy(parts->ghosts, lists.local().begin());
    t.barrier();
    const auto own = g.degrees.local_range();
    const auto mine = wishes.local();
    for (std::uint32_t k = 1; k < t.size(); ++k) {
      const std::uint32_t node = (t.rank() + k) % t.size();
      if (mine[node].count == 0) continue;
      halo_receiver<Id> to{node, g.degrees.layout().local_range(node).count + mine[node].begin, {}};
      to.vertices.resize(mine[node].count);
      lists.get(lists.layout().local_range(node).first + mine[node].begin, std::span(to.vertices));
      for (Id& v : to.vertices) v = static_cast<Id>(v - own.first);
      parts->receivers.push_back(std::move(to));
    }
  });
  return bounds;
}

}  // namespace shoal::detail
