// SPDX-License-Identifier: Apache-2.0
// Counting of k-mers: how often each row of k bases occurs in reads of DNA.
//   simple   a loop over each node's bases that adds each k-mer to a global_counter
//   fast     k-mers change nodes in bulk, divided into many parts by their hash; then each part is counted in a
//            table that fits in a cache
// Both give a counting, which summary_of() sums up; reference_of() is what a sequential program finds.
// Who may call: tasks; they switch. Sources: Marçais, Kingsford 2011 (Jellyfish) for the problem; Deorowicz et al. 2015
// (KMC 2) for parts that are counted one by one.
// Test: tests/cluster/kernels_test.cpp; measured by `shoal kmers`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kmers/base_store.hpp"
#include "kernels/kmers/kmer.hpp"
#include "kernels/kmers/part_tables.hpp"
#include "shoal/global_counter.hpp"
#include "shoal/on.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::kmers {

using counter = counter_ref<std::uint64_t>;

inline void simple(const counter& counts, const base_store_ref& bases, const shape& s) {
  parallel_for(everywhere, node_count(), [=](std::uint32_t) {
    parallel_for(range1d(0, bases.local().size()), [=](const range1d& part) {
      for_each_kmer(bases.local(), part.begin(), part.end(), s, [&](std::uint64_t kmer) { counts.async_add(kmer); });
    });
  });
}

/// Adds to `tables` at most `most_bases` of each node at a time.
void fast(node_local_ref<part_tables> tables, const base_store_ref& bases, const shape& s,
          std::uint64_t most_bases = std::uint64_t{1} << 22);

/// The k-mers of all nodes' bases, repeated ones too.
std::uint64_t number_of(const base_store_ref& bases, const shape& s);

/// What two countings have in common if they are the same.
struct summary {
  std::uint64_t distinct = 0;
  std::uint64_t total = 0;
  std::uint64_t checksum = 0;                                          // of all k-mers with their counts
  std::vector<std::pair<std::uint64_t, std::uint64_t>> most_frequent;  // k-mers and counts; equal counts by k-mer

  bool operator==(const summary&) const = default;
};

summary summary_of(const counter& counts, std::size_t most_frequent);
summary summary_of(node_local_ref<part_tables> tables, std::size_t most_frequent);
/// By sorting all k-mers on this node: of generated reads, or files that are read again. 8 bytes per k-mer.
summary reference_of(const reads& all, std::uint64_t seed, const shape& s, std::size_t most_frequent);
summary reference_of(const std::vector<std::string>& paths, const shape& s, std::size_t most_frequent);

/// What differs; empty if nothing.
std::string difference(const summary& found, const summary& expected, unsigned k);

}  // namespace shoal::kernels::kmers
