// SPDX-License-Identifier: Apache-2.0
// K-mers: k bases in a row, as a number of 2 bits per base, A 0, C 1, G 2, T 3, the first base highest. The canonical
// form is the smaller one of a k-mer and its reverse complement: the two strands of DNA count as one.
//   for_each_kmer(bases, begin, end, {.k = 31}, [&](std::uint64_t kmer) { counts.async_add(kmer); });
// Who may call: anyone; pure functions, that never switch tasks by themselves.
// Test: tests/unit/kernels/kmers_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal::kernels::kmers {

inline constexpr unsigned k_longest = 32;
inline constexpr std::uint8_t k_break = 4;  // among bases: no k-mer reaches over it

struct shape {
  unsigned k = 31;  // 1 to k_longest
  bool canonical = true;
};

/// Calls f for each k-mer of `bases` whose last base lies in [begin, end).
template <class F>
void for_each_kmer(std::span<const std::uint8_t> bases, std::size_t begin, std::size_t end, const shape& s,
                   const F& f) {
  const unsigned top = 2 * (s.k - 1);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 2 * s.k);
  std::uint64_t forward = 0;
  std::uint64_t backward = 0;
  unsigned length = 0;  // of the row of bases that ends here
  for (std::size_t at = begin - std::min<std::size_t>(begin, s.k - 1); at < end; ++at) {
    const std::uint64_t base = bases[at];
    if (base >= k_break) [[unlikely]] {
      length = 0;
      continue;
    }
    forward = (forward << 2 | base) & mask;
    backward = backward >> 2 | (3 - base) << top;
    if (++length < s.k || at < begin) [[unlikely]]
      continue;
    f(s.canonical ? std::min(forward, backward) : forward);
  }
}

/// The letters of a k-mer.
inline std::string letters_of(std::uint64_t kmer, unsigned k) {
  std::string text(k, ' ');
  for (unsigned i = 0; i < k; ++i) text[i] = "ACGT"[kmer >> (2 * (k - 1 - i)) & 3];
  return text;
}

}  // namespace shoal::kernels::kmers
