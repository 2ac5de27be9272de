// SPDX-License-Identifier: Apache-2.0
// A table of 64-bit words on pages of a chosen size, for the bare loops of `shoal bench limits`. All pages are touched
// at the start, so no measured loop contains a page fault.
// The words can be checked after any mixture of reads and updates: the low 40 bits of word i remain i * k_factor, and
// every update adds k_update, so the sum of all words gives the number of updates (modulo 2^24).
// Who may call: any thread; one thread owns the object. Throws shoal::error if there is not enough memory.
// memory().huge_bytes() returns how much memory really has 2 MiB pages. Test: tests/unit/bench/limits_test.cpp.
#pragma once

#include <cstdint>

#include "machine/huge_buffer.hpp"

namespace shoal::bench::limits {

using machine::page_kind;

inline constexpr unsigned k_update_shift = 40;
inline constexpr std::uint64_t k_update = std::uint64_t{1} << k_update_shift;
inline constexpr std::uint64_t k_content_mask = k_update - 1;
inline constexpr std::uint64_t k_factor = 0x9e3779b97f4a7c15U;

/// A table or a part of it; word i of the range is word first + i of the table.
struct word_range {
  std::uint64_t* words;
  std::uint64_t count;
  std::uint64_t first = 0;

  std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (std::uint64_t i = 0; i < count; ++i) total += words[i];
    return total;
  }
  word_range part(std::uint64_t start, std::uint64_t length) const { return {words + start, length, first + start}; }
};

/// Whether `sum` is the sum of words whose numbers add up to `indexes`.
inline bool is_sum_of_content(std::uint64_t sum, std::uint64_t indexes) {
  return (sum & k_content_mask) == (indexes * k_factor & k_content_mask);
}
/// The sum of a table after `updates` updates.
inline bool is_sum_after(std::uint64_t after, std::uint64_t before, std::uint64_t updates) {
  return after == before + updates * k_update;
}

class word_table {
public:
  word_table(std::uint64_t words, page_kind pages) : memory_(words * sizeof(std::uint64_t), pages), count_(words) {
    std::uint64_t* word = all().words;
    for (std::uint64_t i = 0; i < count_; ++i) word[i] = i * k_factor & k_content_mask;
  }

  word_range all() const { return {memory_.as<std::uint64_t>().data(), count_}; }
  const machine::huge_buffer& memory() const { return memory_; }

private:
  machine::huge_buffer memory_;
  std::uint64_t count_;
};

/// Maps 64 random bits to an index below `count` (at most 2^32) without a division.
inline std::uint64_t below(std::uint64_t random, std::uint64_t count) { return ((random >> 32) * count) >> 32; }

}  // namespace shoal::bench::limits
