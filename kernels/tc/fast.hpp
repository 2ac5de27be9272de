// SPDX-License-Identifier: Apache-2.0
// Triangles, the fast form, in two parts. upward() makes a graph whose rows name only the neighbours of higher degree (of
// equal degrees, of greater number): rows become short, and each triangle has one vertex whose row names the others.
// fast() counts, for each vertex u and each v in its row, how much of v's row is in u's row; a worker marks u's row in a
// bitmap. A node gets the rows of others' vertices that it needs in bulk, a bounded part of them at a time.
// Who may call: a task; both switch. Memory per node: a bit per vertex and worker, and 64 MiB of others' rows.
// Source: as tc.hpp; Ortmann, Brandes, "Triangle listing algorithms: back from the diversion" (2014).
// Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "shoal/graph.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::tc {

template <class Id>
global_graph<Id> upward(const graph_ref<Id>& g) {
  using arc = graph::arc<Id>;
  const graph_halo<Id> halo(g);
  const global_array<std::uint32_t> degrees = halo.template values<std::uint32_t>();
  const node_local<std::vector<std::vector<arc>>> kept;  // of each worker
  const global_array<std::uint64_t> counts(node_count());
  spmd([g, h = halo.ref(), degrees = degrees.ref(), kept = kept.ref(), counts = counts.ref()](team& t) {
    const auto rows = h.local();
    const auto degree = degrees.local();
    std::ranges::copy(g.degrees().local(), degree.begin());
    h.exchange(t, degrees);
    kept->resize(worker_count());
    parallel_for(here, 0, rows.own, [&](std::uint64_t i) {
      const auto row = rows.row(i);
      const auto ends = g.neighbours(rows.first + i);
      const auto from = static_cast<Id>(rows.first + i);
      for (std::size_t k = 0; k < row.size(); ++k)
        if (std::pair(degree[i], from) < std::pair(degree[row[k]], ends[k]))
          (*kept)[worker_id()].push_back({from, ends[k]});
    });
    for (const auto& some : *kept) counts.local()[0] += some.size();
  });
  std::vector<std::uint64_t> bounds(node_count() + std::size_t{1});
  counts->get(0, std::span(bounds).subspan(1));
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  const bool none = bounds.back() == 0;
  const global_array<arc> arcs(bounds.back(), none ? distribution_plan(distribution::partition) : blocks_at(bounds));
  spmd([kept = kept.ref(), arcs = arcs.ref()](team&) {
    auto to = arcs.local().begin();
    for (auto& some : *kept) {
      to = std::ranges::copy(some, to).out;
      some = {};
    }
  });
  return global_graph<Id>::build(g.vertices(), arcs.ref(), {.way = graph::direction::forward});
}

/// Copies of the rows of some of this node's ghosts.
template <class Id>
class ghost_rows {
public:
  /// `begins`: of each ghost's row, among its owner's targets; `lengths` of the rows.
  ghost_rows(const graph_ref<Id>& g, std::span<const Id> ghosts, std::span<const std::uint64_t> begins,
             std::span<const std::uint32_t> lengths, std::uint64_t most_targets)
      : g_(g), ghosts_(ghosts), begins_(begins), lengths_(lengths), most_targets_(most_targets) {}

  std::size_t begin() const noexcept { return begin_; }
  std::size_t end() const noexcept { return end_; }
  /// Gets the rows from ghost `first` on, as many as fit.
  void get(std::size_t first) {
    begin_ = end_ = first;
    ends_.assign(1, 0);
    while (end_ < ghosts_.size() && (end_ == first || ends_.back() + lengths_[end_] <= most_targets_))
      ends_.push_back(ends_.back() + lengths_[end_++]);
    room_.resize(ends_.back());
    const auto targets = g_.rows().targets;
    for (std::size_t i = first, next = first; i < end_; i = next) {  // rows that follow each other at their owner
      const std::uint32_t owner = g_.owner(ghosts_[i]);
      while (next < end_ && begins_[next] - begins_[i] == ends_[next - first] - ends_[i - first] &&
             g_.owner(ghosts_[next]) == owner)
        ++next;
      const std::uint64_t count = ends_[next - first] - ends_[i - first];
      if (count > 0)
        targets.async_get(targets.layout().local_range(owner).first + begins_[i],
                          std::span(room_).subspan(ends_[i - first], count));
    }
    wait();
  }
  std::span<const Id> row(std::size_t ghost) const noexcept {
    const std::size_t i = ghost - begin_;
    return std::span(room_).subspan(ends_[i], ends_[i + 1] - ends_[i]);
  }

private:
  graph_ref<Id> g_;
  std::span<const Id> ghosts_;
  std::span<const std::uint64_t> begins_;
  std::span<const std::uint32_t> lengths_;
  std::uint64_t most_targets_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::vector<std::uint64_t> ends_;
  std::vector<Id> room_;
};

/// What fast() has found.
struct counts {
  std::uint64_t triangles = 0;
  std::uint64_t looked_up = 0;  // entries of rows: what other programs push

  counts operator+(const counts& other) const noexcept {
    return {triangles + other.triangles, looked_up + other.looked_up};
  }
};

/// One worker's set of vertices.
class marks {
public:
  explicit marks(std::uint64_t vertices) : words_(vertices / 64 + 1) {}
  template <class Id>
  void set(std::span<const Id> row) noexcept {
    for (const Id v : row) words_[v / 64] |= std::uint64_t{1} << v % 64;
  }
  template <class Id>
  void clear(std::span<const Id> row) noexcept {
    for (const Id v : row) words_[v / 64] = 0;
  }
  template <class Id>
  std::uint64_t count(std::span<const Id> row) const noexcept {
    std::uint64_t sum = 0;
    for (const Id v : row) sum += words_[v / 64] >> v % 64 & 1;
    return sum;
  }

private:
  std::vector<std::uint64_t> words_;
};

/// `up`: from upward(); `halo`: of it; `begins`, `lengths`: its values of these types. `most_targets` of ghosts are copied
/// at once.
template <class Id>
counts fast(const graph_ref<Id>& up, const halo_ref<Id>& halo, const array_ref<std::uint64_t>& begins,
            const array_ref<std::uint32_t>& lengths, std::uint64_t most_targets = std::uint64_t{1} << 24) {
  return spmd([=](team& t) {
    const auto rows = halo.local();
    std::copy_n(rows.offsets, rows.own, begins.local().begin());
    std::ranges::copy(up.degrees().local(), lengths.local().begin());
    halo.exchange(t, begins);
    halo.exchange(t, lengths);
    ghost_rows<Id> others(up, halo.ghosts(), begins.local().subspan(rows.own), lengths.local().subspan(rows.own),
                          most_targets);
    std::vector<marks> marked(worker_count(), marks(up.vertices()));
    counts mine;
    do {
      const bool first = others.end() == 0;  // own rows are looked up together with the first of others
      others.get(others.end());
      mine = mine + parallel_reduce(
                        here, 0, rows.own, counts{},
                        [&](std::uint64_t i) {
                          const auto row = up.neighbours(rows.first + i);
                          marks& set = marked[worker_id()];
                          counts found;
                          const auto look_up = [&](std::span<const Id> other) {
                            found.looked_up += other.size();
                            found.triangles += set.count(other);
                          };
                          set.set(row);
                          for (const Id place : rows.row(i)) {
                            if (place < rows.own) {
                              if (first) look_up(up.neighbours(rows.first + place));
                            } else if (const std::size_t ghost = place - rows.own;
                                       ghost >= others.begin() && ghost < others.end()) {
                              look_up(others.row(ghost));
                            }
                          }
                          set.clear(row);
                          return found;
                        },
                        std::plus<>());
    } while (others.end() < halo.ghosts().size());
    return t.all_reduce(mine, std::plus<>());
  });
}

}  // namespace shoal::kernels::tc
