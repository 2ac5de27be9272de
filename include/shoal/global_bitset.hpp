// SPDX-License-Identifier: Apache-2.0
// Bits over all nodes, 64 in an element of a global array: equal contiguous blocks, all clear.
//   shoal::global_bitset visited(vertices);
//   if (!visited->fetch_set(v)) expand(v);            // exactly one task sees false
// Who may call, which verbs switch, when async_ verbs are complete: as shoal/array.hpp. Every change of a bit is atomic.
// Shown by tests/cluster/containers_test.cpp.
#pragma once

#include <bit>
#include <cstdint>
#include <functional>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal {

/// The handle: trivially copyable; valid while the bitset exists.
class bitset_ref {
public:
  bitset_ref() = default;
  bitset_ref(array_ref<std::uint64_t> words, std::uint64_t size) noexcept : words_(words), size_(size) {}

  /// Number of bits.
  std::uint64_t size() const noexcept { return size_; }
  /// The node that holds a bit.
  std::uint32_t owner(std::uint64_t i) const noexcept { return words_.owner(i / 64); }
  /// Bit i is bit i mod 64 of word i / 64.
  array_ref<std::uint64_t> words() const noexcept { return words_; }

  bool test(std::uint64_t i) const { return (words_.get(i / 64) & bit(i)) != 0; }
  void set(std::uint64_t i) const { words_.bit_or(i / 64, bit(i)); }
  void reset(std::uint64_t i) const { words_.bit_and(i / 64, ~bit(i)); }
  /// The bit before.
  bool fetch_set(std::uint64_t i) const { return (words_.fetch_or(i / 64, bit(i)) & bit(i)) != 0; }
  bool fetch_reset(std::uint64_t i) const { return (words_.fetch_and(i / 64, ~bit(i)) & bit(i)) != 0; }
  void async_set(std::uint64_t i) const { words_.async_bit_or(i / 64, bit(i)); }
  void async_reset(std::uint64_t i) const { words_.async_bit_and(i / 64, ~bit(i)); }

  /// Clears all bits. Switches tasks.
  void clear() const { words_.fill(0); }
  /// Number of set bits. Switches tasks; each node counts its own.
  std::uint64_t count() const {
    return parallel_reduce(
        owners_of(words_), words_.size(), std::uint64_t{0},
        [w = words_](std::uint64_t i) { return static_cast<std::uint64_t>(std::popcount(w.get(i))); }, std::plus<>());
  }
  /// Calls f(i) for each set bit where it is, on all workers; f may wait.
  template <class F>
  void for_each_set(const F& f) const {
    parallel_for(owners_of(words_), words_.size(), [w = words_, f](std::uint64_t n) {
      for (std::uint64_t left = w.get(n); left != 0; left &= left - 1)
        f(n * 64 + static_cast<std::uint64_t>(std::countr_zero(left)));
    });
  }

private:
  static std::uint64_t bit(std::uint64_t i) noexcept { return std::uint64_t{1} << (i % 64); }

  array_ref<std::uint64_t> words_;
  std::uint64_t size_ = 0;
};

/// Owns the bits; move-only.
class global_bitset {
public:
  /// `size` bits, all clear. Throws shoal::error (out_of_memory), as shoal/array.hpp.
  explicit global_bitset(std::uint64_t size, distribution kind = distribution::partition,
                         const array_options& options = {}, code_place where = code_place::here())
      : words_(size / 64 + (size % 64 != 0 ? 1 : 0), kind, options, where), ref_(words_.ref(), size) {}

  bitset_ref ref() const noexcept { return ref_; }
  operator bitset_ref() const noexcept { return ref_; }
  const bitset_ref* operator->() const noexcept { return &ref_; }

private:
  global_array<std::uint64_t> words_;
  bitset_ref ref_;
};

}  // namespace shoal
