// SPDX-License-Identifier: Apache-2.0
// The sets of places (own vertices and ghosts) of one node that its rows connect, joined by all its workers. Each place
// has a parent that is not greater; a root is the least place of its set. First two arcs per vertex are joined; most
// vertices are then in one set, whose other arcs need no look, but those to ghosts, which may be the only ones to them.
// Who may call: one task per node; join() switches. Source: Sutton, Ben-Nun, Barak (2018), "Afforest".
// Test: tests/cluster/kernels_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "shoal/graph_halo.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"

namespace shoal::kernels::cc {

template <class Id>
class local_sets {
public:
  local_sets(const halo_rows<Id>& rows, std::span<const Id> ghosts)
      : rows_(rows), ghosts_(ghosts), parents_(rows.size) {
    parallel_for(here, 0, parents_.size(), [&](std::uint64_t i) { parents_[i] = static_cast<Id>(i); });
  }

  void join(bool with_ghosts) {
    constexpr std::size_t k_sampled = 2;
    for (std::size_t k = 0; k < k_sampled; ++k)
      parallel_for(here, 0, rows_.own, [&](std::uint64_t i) {
        const auto row = rows_.row(i);
        if (k < row.size()) link(static_cast<Id>(i), row[k]);
      });
    compress();
    const Id most = most_frequent();
    parallel_for(here, 0, rows_.own, [&](std::uint64_t i) {
      const auto row = rows_.row(i);
      if (row.size() <= k_sampled) return;
      const bool in_most = parent(i) == most;
      if (in_most && !with_ghosts) return;
      for (const Id place : row.subspan(k_sampled))
        if (!in_most || place >= rows_.own) link(static_cast<Id>(i), place);
    });
    compress();
    if (!with_ghosts) return;
    labels_.resize(rows_.own);
    for (std::uint64_t i = 0; i < rows_.own; ++i) labels_[i] = static_cast<Id>(rows_.first + i);
    for (std::size_t k = 0; k < ghosts_.size(); ++k) lower(rows_.own + k, ghosts_[k]);
  }

  /// The least vertex that is known to be connected with a place.
  Id label_of(std::uint64_t place) const noexcept {
    const Id root = parents_[place];
    return labels_.empty() ? static_cast<Id>(rows_.first + root) : labels_[root];
  }
  /// Whether that is news. By one worker.
  bool lower(std::uint64_t place, Id label) noexcept {
    Id& mine = labels_[parents_[place]];
    return label < mine ? mine = label, true : false;
  }
  /// Takes the labels of the sets' labels. Returns how many are lower.
  std::uint64_t jump(const array_ref<Id>& labels) {
    std::vector<Id> next(labels_);
    for (std::uint64_t i = 0; i < rows_.own; ++i)
      if (parents_[i] == i && labels_[i] - rows_.first >= rows_.own) labels.async_get(labels_[i], &next[i]);
    wait();
    std::uint64_t lowered = 0;
    for (std::uint64_t i = 0; i < rows_.own; ++i) lowered += parents_[i] == i && lower(i, next[i]) ? 1 : 0;
    return lowered;
  }

private:
  // Partners: the other workers that link and compress. A parent is a place of the same set at any moment, so the order
  // of what is read does not matter.
  Id parent(std::uint64_t i) const noexcept {
    return std::atomic_ref(const_cast<Id&>(parents_[i])).load(std::memory_order_relaxed);
  }

  void link(Id a, Id b) noexcept {
    Id x = parent(a);
    Id y = parent(b);
    while (x != y) {
      const Id high = std::max(x, y);
      const Id low = std::min(x, y);
      Id expected = high;
      const Id above = parent(high);
      if (above == low) return;
      if (above == high && std::atomic_ref(parents_[high]).compare_exchange_strong(expected, low)) return;
      x = parent(parent(high));
      y = parent(low);
    }
  }

  void compress() {
    parallel_for(here, 0, parents_.size(), [&](std::uint64_t i) {
      while (parent(i) != parent(parent(i)))
        std::atomic_ref(parents_[i]).store(parent(parent(i)), std::memory_order_relaxed);
    });
  }

  Id most_frequent() const {
    std::unordered_map<Id, unsigned> counts;
    for (std::uint64_t k = 0; k < 1024 && rows_.own > 0; ++k) ++counts[parents_[splitmix64::at(1, k) % rows_.own]];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
    return most == counts.end() ? Id{0} : most->first;
  }

  halo_rows<Id> rows_;
  std::span<const Id> ghosts_;
  std::vector<Id> parents_;
  std::vector<Id> labels_;  // of the roots; none on the only node: there the root is the label
};

}  // namespace shoal::kernels::cc
