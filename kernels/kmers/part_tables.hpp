// SPDX-License-Identifier: Apache-2.0
// Counts of k-mers in tables of a node: one for each of many parts of the hash, so that a table is small, and belongs
// to one task at a time.
// Who may call: one thread at a time for a table; never switches tasks.
// Guarantees: at most 5/8 of the slots are used.
// Test: tests/unit/kernels/kmers_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::kernels::kmers {

inline std::uint64_t hash_of(std::uint64_t kmer) noexcept { return mix64(kmer + 0x9e3779b97f4a7c15u); }

class kmer_table {
public:
  std::size_t size() const noexcept { return size_; }

  void add(std::span<const std::uint64_t> kmers) {
    constexpr std::size_t k_ahead = 8;
    if (slots_ == nullptr) grow(std::bit_ceil(std::max(kmers.size() / 2, k_first_slots)));
    for (std::size_t i = 0; i < kmers.size(); ++i) {
      if (i + k_ahead < kmers.size()) __builtin_prefetch(&slots_[hash_of(kmers[i + k_ahead]) & mask_], 1);
      slot& s = find(kmers[i]);
      if (s.count++ != 0) continue;
      s.kmer = kmers[i];
      if (++size_ > mask_ / 8 * 5) grow(2 * (mask_ + 1));
    }
  }
  template <class F>
  void for_each(const F& f) const {
    if (slots_ == nullptr) return;
    for (std::size_t i = 0; i <= mask_; ++i)
      if (slots_[i].count != 0) f(slots_[i].kmer, slots_[i].count);
  }

private:
  struct slot {
    std::uint64_t kmer = 0;
    std::uint64_t count = 0;  // 0: free
  };
  static constexpr std::size_t k_first_slots = 256;

  slot& find(std::uint64_t kmer) noexcept {
    std::size_t at = hash_of(kmer) & mask_;
    while (slots_[at].count != 0 && slots_[at].kmer != kmer) at = (at + 1) & mask_;
    return slots_[at];
  }
  void grow(std::size_t slots) {
    const auto old = std::exchange(slots_, std::make_unique<slot[]>(slots));
    const std::size_t old_slots = old == nullptr ? 0 : mask_ + 1;
    mask_ = slots - 1;
    for (std::size_t i = 0; i < old_slots; ++i)
      if (old[i].count != 0) find(old[i].kmer) = old[i];
  }

  std::unique_ptr<slot[]> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

/// Those of a node.
struct part_tables {
  std::vector<kmer_table> of_part;
};

}  // namespace shoal::kernels::kmers
