// SPDX-License-Identifier: Apache-2.0
// Delta stepping, the fast form: vertices wait in bins of distance; each worker has its own. A node empties the nearest
// bin, again and again while it is refilled, and lowers distances of its own vertices and of its copies of others
// (ghosts). Then it sends each ghost's new distance to the owner, once, all of a node in one message; and all nodes agree
// on the nearest bin that is left.
// Who may call: a task; fast() switches. `halo`: of the graph's rows; `distances` is like its degrees.
// Source: as sssp.hpp; the bins are those of Beamer, Asanovic, Patterson, "The GAP benchmark suite" (2015).
// Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/sssp/sssp.hpp"
#include "shoal/array.hpp"
#include "shoal/graph_halo.hpp"
#include "shoal/node_local.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/range.hpp"
#include "shoal/spmd.hpp"

namespace shoal::kernels::sssp {

/// The part of one node. One task calls it; loops over the node's workers are inside.
template <class Id, class Weight>
class node_distances {
public:
  struct update {  // of a vertex of the receiver
    Id vertex;
    Weight distance;
  };

  node_distances(const graph_ref<Id, Weight>& g, const halo_ref<Id>& halo, Weight delta)
      : g_(g),
        rows_(halo.local()),
        weights_(g.local().all_weights),
        ghosts_(halo.ghosts()),
        bins_per_distance_(1 / static_cast<double>(delta)),
        reach_(rows_.size, k_far<Weight>),
        told_(ghosts_.size(), k_far<Weight>),
        workers_(worker_count()) {}

  void begin_at(std::uint64_t vertex) { lower(static_cast<Id>(vertex - rows_.first), 0, workers_[0]); }

  /// The nearest bin that is not empty, from `bin` on.
  std::uint64_t nearest(std::uint64_t bin) const {
    std::uint64_t found = k_no_bin;
    for (const bins& w : workers_) {
      std::uint64_t b = bin;
      while (b < w.of.size() && w.of[b].empty()) ++b;
      if (b < w.of.size()) found = std::min(found, b);
    }
    return found;
  }
  /// Passes on the distances of the bin's vertices until it stays empty.
  void empty(std::uint64_t bin) {
    while (gather(bin)) {
      parallel_for(here, range1d(0, frontier_.size()), [&](const range1d& part) {
        bins& mine = workers_[worker_id()];
        for (std::uint64_t i = part.begin(); i < part.end(); ++i) {
          const Id v = frontier_[i];
          const Weight distance = std::atomic_ref(reach_[v]).load(std::memory_order_relaxed);
          if (bin_of(distance) < bin) continue;  // it was passed on when it was in a nearer bin
          const auto row = rows_.row(v);
          const Weight* const weight = weights_ + rows_.offsets[v];
          for (std::size_t k = 0; k < row.size(); ++k) lower(row[k], distance + weight[k], mine);
        }
      });
    }
  }
  /// Tells the owners of ghosts what is new, and takes what other nodes tell.
  void exchange(team& t) {
    std::vector<std::uint64_t> counts(t.size());
    changed_.clear();
    for (bins& w : workers_) {
      for (const Id ghost : w.ghosts)
        if (told_[ghost] != reach_[rows_.own + ghost]) {
          told_[ghost] = reach_[rows_.own + ghost];
          changed_.push_back(ghost);
        }
      w.ghosts.clear();
    }
    std::ranges::sort(changed_);  // ghosts of one owner follow each other
    outgoing_.clear();
    for (const Id ghost : changed_) {
      outgoing_.push_back({ghosts_[ghost], told_[ghost]});
      ++counts[g_.owner(ghosts_[ghost])];
    }
    const auto arrived = t.all_to_all(std::span<const update>(outgoing_), counts);
    parallel_for(here, range1d(0, arrived.values.size()), [&](const range1d& part) {
      bins& mine = workers_[worker_id()];
      for (const update& u : std::span(arrived.values).subspan(part.begin(), part.size()))
        lower(static_cast<Id>(u.vertex - rows_.first), u.distance, mine);
    });
  }
  void store(std::span<Weight> distances) const { std::copy_n(reach_.begin(), rows_.own, distances.begin()); }

  static constexpr std::uint64_t k_no_bin = ~std::uint64_t{0};

private:
  // Vertices beyond share the last bin, which stays right but is emptied more often.
  static constexpr std::uint64_t k_most_bins = std::uint64_t{1} << 16;

  struct alignas(64) bins {
    std::vector<std::vector<Id>> of;
    std::vector<Id> ghosts;
  };

  /// Partners: the other workers that lower distances; they order nothing else, and loops end before others look.
  void lower(Id place, Weight distance, bins& mine) {
    std::atomic_ref at(reach_[place]);
    Weight before = at.load(std::memory_order_relaxed);
    while (distance < before) {
      if (!at.compare_exchange_weak(before, distance, std::memory_order_relaxed)) continue;
      if (place >= rows_.own) {
        mine.ghosts.push_back(static_cast<Id>(place - rows_.own));
        return;
      }
      const std::uint64_t bin = bin_of(distance);
      if (mine.of.size() <= bin) mine.of.resize(bin + 1);
      mine.of[bin].push_back(place);
      return;
    }
  }
  /// Never less for a greater distance.
  std::uint64_t bin_of(Weight distance) const noexcept {
    const double bin = static_cast<double>(distance) * bins_per_distance_;
    return bin < static_cast<double>(k_most_bins) ? static_cast<std::uint64_t>(bin) : k_most_bins - 1;
  }
  bool gather(std::uint64_t bin) {
    frontier_.clear();
    for (bins& w : workers_) {
      if (bin >= w.of.size()) continue;
      frontier_.insert(frontier_.end(), w.of[bin].begin(), w.of[bin].end());
      w.of[bin].clear();
    }
    return !frontier_.empty();
  }

  graph_ref<Id, Weight> g_;
  halo_rows<Id> rows_;
  const Weight* weights_;
  std::span<const Id> ghosts_;
  double bins_per_distance_;
  std::vector<Weight> reach_;  // of own vertices, then of ghosts
  std::vector<Weight> told_;   // of ghosts: what their owners know
  std::vector<bins> workers_;
  std::vector<Id> frontier_;
  std::vector<Id> changed_;
  std::vector<update> outgoing_;
};

/// Returns how often the nodes exchanged distances.
template <class Id, class Weight>
std::uint64_t fast(const graph_ref<Id, Weight>& g, const halo_ref<Id>& halo, const array_ref<Weight>& distances,
                   std::uint64_t source, Weight delta) {
  return spmd([=](team& t) {
    node_distances<Id, Weight> mine(g, halo, delta);
    if (g.owner(source) == node_id()) mine.begin_at(source);
    std::uint64_t rounds = 0;
    for (std::uint64_t bin = 0; bin != mine.k_no_bin; ++rounds) {
      mine.empty(bin);
      if (t.size() > 1) mine.exchange(t);
      bin = t.all_reduce(mine.nearest(bin), [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); });
    }
    mine.store(distances.local());
    return rounds;
  });
}

}  // namespace shoal::kernels::sssp
