// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/fast.hpp"

#include <algorithm>
#include <span>

#include "shoal/error.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::bfs {
namespace {

level_totals sum(team& t, const level_totals& mine) {
  return t.all_reduce(mine, [](const level_totals& a, const level_totals& b) {
    return level_totals{a.vertices + b.vertices, a.arcs + b.arcs};
  });
}

/// Sends this node's part of the frontier to every other node. Complete on all nodes after the next collective.
template <class Id>
void share_frontier(team& t, const node_search<Id>& s, const array_ref<std::uint64_t>& frontier) {
  if (t.size() == 1) return;
  const std::uint64_t words = s.slots / 64;
  const std::span<const std::uint64_t> mine(frontier.local().data() + s.own_word(), s.own_words());
  for (std::uint32_t n = 1; n < t.size(); ++n)
    frontier.async_put((t.rank() + n) % t.size() * words + s.own_word(), mine);
  wait();
}

/// The levels of one search on one node. A collective separates the steps of two levels, so a node receives no message
/// of a level before it has finished the previous level.
template <class Id>
void search_levels(team& t, const typename fast_search<Id>::handles& h, std::uint64_t root) {
  node_search<Id>& s = h.nodes.local()[0];
  const auto self = h.nodes.symmetric();
  const step_kind steps = h.options.steps;
  s.reset();
  s.set_root(root);
  t.barrier();

  search_counts counts;
  bool upwards = false;  // bottom-up
  int now = 0;           // which of the two bitmaps is the frontier
  level_totals frontier{1, 0};
  std::uint64_t arcs_left = h.arcs;
  const auto begin_upwards = [&] {
    upwards = true;
    s.queue_to_bitmap(now);
    share_frontier(t, s, h.frontier[now]);
    t.barrier();
    s.see_others(now);
  };
  if (steps == step_kind::bottom_up) begin_upwards();

  while (frontier.vertices > 0) {
    ++counts.levels;
    const std::uint64_t before = frontier.vertices;
    if (!upwards) {
      s.top_down(h.graph, self);
      t.barrier();  // all pairs for this node have arrived
      frontier = sum(t, s.end_top_down());
      arcs_left -= std::min(arcs_left, frontier.arcs);
      if (steps == step_kind::automatic && h.graph.way == direction::both &&
          static_cast<double>(frontier.arcs) * h.options.alpha > static_cast<double>(arcs_left))
        begin_upwards();
    } else {
      ++counts.bottom_up;
      const level_totals mine = s.bottom_up(now);
      now = 1 - now;
      share_frontier(t, s, h.frontier[now]);
      frontier = sum(t, mine);
      s.see_others(now);
      if (steps == step_kind::automatic && frontier.vertices < before &&
          static_cast<double>(frontier.vertices) * h.options.beta < static_cast<double>(h.graph.vertices)) {
        s.bitmap_to_queue(now);
        upwards = false;
      }
    }
  }
  for (std::uint32_t w = 0; w < s.workers; ++w) counts.pairs_sent += s.found[w].sent;
  h.counts.local()[0] = counts;
}

}  // namespace

template <class Id>
fast_search<Id>::fast_search(const distributed_graph<Id>& graph, const search_options& options) {
  const graph_view<Id>& g = graph.view();
  if (options.steps == step_kind::bottom_up && g.way != direction::both)
    throw error(errc::invalid_argument,
                "a bottom-up search needs the edges in both directions; search top-down, or follow edges both ways");
  const std::uint64_t nodes = node_count();
  const std::uint64_t words = g.slots() / 64;
  std::uint64_t most_workers = 0;
  for (std::uint32_t n = 0; n < nodes; ++n)
    most_workers = std::max<std::uint64_t>(most_workers, on(n, [] { return worker_count(); }));
  parents_ = global_array<Id>(g.slots());
  queue_ = global_array<Id>(g.slots());
  best_ = global_array<Id>(g.slots());
  alone_ = global_array<std::uint64_t>(words);
  seen_ = global_array<std::uint64_t>(nodes * words);
  for (auto& f : frontier_) f = global_array<std::uint64_t>(nodes * words);
  found_ = global_array<found_vertices<Id>>(nodes * most_workers);
  nodes_ = global_array<node_search<Id>>(nodes);
  counts_ = global_array<search_counts>(nodes);
  shared_ = {g, options, graph.arcs(), nodes_, {frontier_[0], frontier_[1]}, counts_};
  spmd([g, parents = parents_.ref(), queue = queue_.ref(), best = best_.ref(), alone = alone_.ref(), seen = seen_.ref(),
        frontier0 = frontier_[0].ref(), frontier1 = frontier_[1].ref(), found = found_.ref(),
        nodes = nodes_.ref()](team& t) {
    node_search<Id>& s = nodes.local()[0];
    s = {};
    const auto rows = g.rows.local();
    s.offsets = rows.offsets;
    s.targets = rows.targets;
    s.best = best.local().data();
    s.alone = alone.local().data();
    s.first = t.rank() * g.block;
    s.block = g.block;
    s.slots = g.slots();
    s.parents = parents.local().data();
    s.queue = queue.local().data();
    s.seen = seen.local().data();
    s.frontier[0] = frontier0.local().data();
    s.frontier[1] = frontier1.local().data();
    s.found = found.local().data();
    s.workers = worker_count();
    s.exclusive = s.workers == 1;
    if (g.way != direction::both) return;  // a vertex with an empty row may still be reached
    for (std::uint64_t w = 0; w < g.block / 64; ++w) {
      std::uint64_t word = 0;
      for (std::uint64_t v = w * 64; v < (w + 1) * 64; ++v)
        if (v >= rows.size() || s.degree(v) == 0)  // also the padding
          word |= std::uint64_t{1} << v % 64;
        else
          best.local()[v] = s.targets[s.offsets[v]];
      alone.local()[w] = word;
    }
  });
}

template <class Id>
search_counts fast_search<Id>::run(std::uint64_t root) {
  spmd([h = shared_, root](team& t) { search_levels<Id>(t, h, root); });
  search_counts total;
  for (std::uint32_t n = 0; n < node_count(); ++n) {
    const search_counts one = counts_->get(n);
    total = {one.levels, one.bottom_up, total.pairs_sent + one.pairs_sent};
  }
  return total;
}

template class fast_search<std::uint32_t>;
template class fast_search<std::uint64_t>;

}  // namespace shoal::kernels::bfs
