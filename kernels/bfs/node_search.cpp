// SPDX-License-Identifier: Apache-2.0
#include "kernels/bfs/node_search.hpp"

#include <algorithm>

#include "shoal/parallel_for.hpp"

namespace shoal::kernels::bfs {
namespace {

constexpr std::uint64_t k_words_per_chunk = 16;     // of a bitmap: 1024 vertices
constexpr std::uint64_t k_vertices_per_chunk = 32;  // of the queue
constexpr std::uint64_t k_offsets_ahead = 12;       // vertices of the queue whose rows are prefetched in two steps
constexpr std::uint64_t k_targets_ahead = 4;

template <class Id>
struct discovery {
  symmetric_ptr<node_search<Id>> search;
  Id vertex;
  Id parent;
  void operator()() const noexcept { search.get()->discover(vertex, parent); }
};

template <class F>
void for_each_bit(std::uint64_t word, std::uint64_t base, F&& f) {
  for (; word != 0; word &= word - 1) f(base + static_cast<std::uint64_t>(std::countr_zero(word)));
}

}  // namespace

template <class Id>
void node_search<Id>::reset() {
  parallel_for(
      here, 0, own_words(),
      [this](std::uint64_t w) {
        std::fill_n(parents + w * 64, 64, k_nobody);
        seen[own_word() + w] = alone[w];
      },
      simple_partitioner{4 * k_words_per_chunk});
  std::fill_n(seen, own_word(), 0);
  std::fill_n(seen + own_word() + own_words(), slots / 64 - own_word() - own_words(), 0);
  for (std::uint32_t w = 0; w < workers; ++w) found[w].size = 0, found[w].arcs = found[w].sent = 0;
  begin = end = tail = 0;
}

template <class Id>
void node_search<Id>::set_root(std::uint64_t root) {
  seen[root / 64] |= std::uint64_t{1} << root % 64;
  if (root - first >= block) return;
  parents[root - first] = static_cast<Id>(root);
  queue[0] = static_cast<Id>(root);
  end = tail = 1;
}

template <class Id>
void node_search<Id>::top_down(const graph_view<Id>& g, symmetric_ptr<node_search> self) {
  parallel_for(
      here, begin, end,
      [&](std::uint64_t i) {
        if (i + k_offsets_ahead < end) __builtin_prefetch(offsets + (queue[i + k_offsets_ahead] - first));
        if (i + k_targets_ahead < end) __builtin_prefetch(targets + offsets[queue[i + k_targets_ahead] - first]);
        const Id v = queue[i];
        const std::uint64_t last = offsets[v - first + 1];
        for (std::uint64_t e = offsets[v - first]; e < last; ++e) {
          const Id u = targets[e];
          if (was_seen(u)) continue;
          if (u - first < block) {
            discover(u, v);
          } else if (claim(u)) {
            ++found[worker_id()].sent;
            async_at(g.owner(u), discovery<Id>{self, u, v});
          }
        }
      },
      simple_partitioner{k_vertices_per_chunk});
}

template <class Id>
level_totals node_search<Id>::end_top_down() {
  level_totals totals;
  for (std::uint32_t w = 0; w < workers; ++w) {
    append(found[w]);
    totals.arcs += found[w].arcs;
    found[w].arcs = 0;
  }
  begin = end;
  end = tail;
  totals.vertices = end - begin;
  return totals;
}

template <class Id>
level_totals node_search<Id>::bottom_up(int now) {
  const std::uint64_t* in = frontier[now];
  std::uint64_t* out = frontier[1 - now] + own_word();
  std::uint64_t* reached = seen + own_word();
  parallel_for(
      here, 0, own_words(),
      [&](std::uint64_t w) {
        std::uint64_t next = 0;
        for_each_bit(~reached[w], w * 64, [&](std::uint64_t own) {
          const auto found_parent = [&](Id u) {
            if ((in[u / 64] >> u % 64 & 1) == 0) return false;
            parents[own] = u;
            next |= std::uint64_t{1} << own % 64;
            return true;
          };
          if (found_parent(best[own])) return;
          const std::uint64_t last = offsets[own + 1];
          for (std::uint64_t e = offsets[own] + 1; e < last; ++e)
            if (found_parent(targets[e])) return;
        });
        out[w] = next;
        reached[w] |= next;
      },
      simple_partitioner{k_words_per_chunk});
  level_totals totals;
  for (std::uint64_t w = 0; w < own_words(); ++w) totals.vertices += static_cast<std::uint64_t>(std::popcount(out[w]));
  return totals;
}

template <class Id>
void node_search<Id>::queue_to_bitmap(int now) {
  std::uint64_t* own = frontier[now] + own_word();
  std::fill_n(own, own_words(), 0);
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t v = queue[i] - first;
    own[v / 64] |= std::uint64_t{1} << v % 64;
  }
}

template <class Id>
void node_search<Id>::bitmap_to_queue(int now) {
  const std::uint64_t* own = frontier[now] + own_word();
  begin = end = 0;
  for (std::uint64_t w = 0; w < own_words(); ++w)
    for_each_bit(own[w], first + w * 64, [this](std::uint64_t v) { queue[end++] = static_cast<Id>(v); });
  tail = end;
}

template <class Id>
void node_search<Id>::see_others(int now) {
  const std::uint64_t own_end = own_word() + own_words();
  for (std::uint64_t w = 0; w < own_word(); ++w) seen[w] |= frontier[now][w];
  for (std::uint64_t w = own_end; w < slots / 64; ++w) seen[w] |= frontier[now][w];
}

template struct node_search<std::uint32_t>;
template struct node_search<std::uint64_t>;

}  // namespace shoal::kernels::bfs
