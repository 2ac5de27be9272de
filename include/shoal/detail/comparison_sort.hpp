// SPDX-License-Identifier: Apache-2.0
// Sorts by comparison, keys with or without values beside them, with all workers of this process: a sample gives
// splitters, all elements are distributed to the buckets between them, and each bucket is sorted by merging. Elements
// equal to a splitter have a bucket of their own, so that many equal elements are no bucket that one worker must sort.
// Who may call: tasks. It may switch; the caller brings all memory, so it does not fail. The comparison is a strict weak
// order, does not throw, and runs on several workers at once.
// Guarantees: stable. Source: Sanders, Winkel, "Super scalar sample sort" (2004).
// Shown by tests/unit/algorithms/comparison_sort_test.cpp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "shoal/detail/radix_sort.hpp"
#include "shoal/random.hpp"

namespace shoal::detail {

/// Merges two sorted runs; of equal elements those of `a` come first.
template <class Key, class Value, class Less>
void merge_runs(const columns<Key, Value>& a, std::size_t a_size, const columns<Key, Value>& b, std::size_t b_size,
                const columns<Key, Value>& to, const Less& less) {
  std::size_t i = 0;
  std::size_t j = 0;
  std::size_t k = 0;
  while (i < a_size && j < b_size) {
    // Of random keys nobody predicts a branch.
    const bool second = less(b.keys[j], a.keys[i]);
    const Key* const key = second ? b.keys + j : a.keys + i;
    to.keys[k] = *key;
    if constexpr (columns<Key, Value>::k_valued) to.values[k] = *(second ? b.values + j : a.values + i);
    ++k;
    j += second ? 1 : 0;
    i += second ? 0 : 1;
  }
  a.from(i).copy_to(to.from(k), a_size - i);
  b.from(j).copy_to(to.from(k + a_size - i), b_size - j);
}

/// Sorts the elements of `data`; the result is in `spare` if `to_spare`, else in `data`.
template <class Key, class Value, class Less>
void merge_sort(const columns<Key, Value>& data, const columns<Key, Value>& spare, std::size_t count, bool to_spare,
                const Less& less) {
  constexpr std::size_t k_run = 24;
  // Starts where the merges end up in the right place.
  unsigned merges = 0;
  for (std::size_t run = k_run; run < count; run *= 2) ++merges;
  columns<Key, Value> from = data;
  columns<Key, Value> to = spare;
  if (to_spare != (merges % 2 == 1)) {
    data.copy_to(spare, count);
    std::swap(from, to);
  }
  for (std::size_t begin = 0; begin < count; begin += k_run)
    insertion_sort(from.from(begin), std::min(k_run, count - begin), less);
  for (std::size_t run = k_run; run < count; run *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, count);
      const std::size_t end = std::min(middle + run, count);
      merge_runs(from.from(begin), middle - begin, from.from(middle), end - middle, to.from(begin), less);
    }
    std::swap(from, to);
  }
}

template <class T, class Value, class Less>
class comparison_sorter {
  using pair = columns<T, Value>;
  static constexpr std::size_t k_least_block = std::size_t{1} << 14;
  static constexpr std::size_t k_most_splitters = 255;
  static constexpr std::size_t k_samples_per_splitter = 16;

public:
  comparison_sorter(std::size_t count, const Less& less, unsigned workers = worker_here().siblings) noexcept
      : division_(count, k_least_block, workers), less_(less) {}

  std::size_t room_bytes() const noexcept {
    using room = scratch_memory;
    if (!has_buckets()) return 0;
    return 2 * room::bytes_for<T>(k_most_splitters * k_samples_per_splitter) + room::bytes_for<T>(k_most_splitters) +
           room::bytes_for<std::uint16_t>(division_.count) +
           room::bytes_for<std::uint64_t>((division_.blocks + 1) * k_most_buckets);
  }

  /// Sorts `data`; `spare` has room for as many. The result is in `data`.
  void run(const pair& data, const pair& spare, scratch_memory& room) {
    if (!has_buckets()) return merge_sort(data, spare, division_.count, false, less_);
    choose_splitters(data.keys, room);
    auto* const which = room.take<std::uint16_t>(division_.count);
    counts_ = room.take<std::uint64_t>((division_.blocks + 1) * k_most_buckets);
    division_.run([&](std::size_t block) {
      std::uint64_t* const counts = counts_of(block);
      std::fill_n(counts, buckets(), 0);
      for (std::size_t i = division_.begin(block); i < division_.begin(block + 1); ++i) {
        which[i] = static_cast<std::uint16_t>(bucket_of(data.keys[i]));
        ++counts[which[i]];
      }
    });
    std::uint64_t* const begins = counts_of(division_.blocks);
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket < buckets(); ++bucket) {
      begins[bucket] = sum;
      for (std::size_t b = 0; b < division_.blocks; ++b) sum += std::exchange(counts_of(b)[bucket], sum);
    }
    begins[buckets()] = sum;
    division_.run([&](std::size_t block) {
      std::uint64_t* const next = counts_of(block);
      for (std::size_t i = division_.begin(block); i < division_.begin(block + 1); ++i)
        data.copy_one(i, spare, next[which[i]]++);
    });
    parallel_for(
        buckets(),
        [&](std::size_t bucket) {
          const std::uint64_t begin = begins[bucket];
          const std::uint64_t size = begins[bucket + 1] - begin;
          if (bucket % 2 == 1)  // all equal
            spare.from(begin).copy_to(data.from(begin), size);
          else
            merge_sort(spare.from(begin), data.from(begin), size, true, less_);
        },
        simple_partitioner{1});
  }

private:
  static constexpr std::size_t k_most_buckets = 2 * k_most_splitters + 2;

  bool has_buckets() const noexcept { return division_.count >= 2 * k_least_block; }
  /// Even: between two splitters; odd: equal to one.
  std::size_t buckets() const noexcept { return 2 * splitters_count_ + 1; }
  std::uint64_t* counts_of(std::size_t block) const noexcept { return counts_ + block * k_most_buckets; }

  void choose_splitters(const T* data, scratch_memory& room) {
    const std::size_t wanted = std::min(k_most_splitters, std::bit_floor(division_.count / (k_least_block / 16)) - 1);
    const std::size_t samples = wanted * k_samples_per_splitter;
    T* const sample = room.take<T>(samples);
    T* const spare = room.take<T>(samples);
    splitters_ = room.take<T>(wanted);
    xoshiro256ss random(division_.count);
    for (std::size_t i = 0; i < samples; ++i) sample[i] = data[random.below(division_.count)];
    using keys_only = columns<T, no_value>;
    merge_sort(keys_only{sample}, keys_only{spare}, samples, false, less_);
    splitters_count_ = 0;
    for (std::size_t i = 0; i < wanted; ++i) {
      const T& next = sample[i * k_samples_per_splitter + k_samples_per_splitter / 2];
      if (splitters_count_ == 0 || less_(splitters_[splitters_count_ - 1], next)) splitters_[splitters_count_++] = next;
    }
  }
  std::size_t bucket_of(const T& x) const {
    // The first splitter that is not less than x.
    const T* first = splitters_;
    for (std::size_t left = splitters_count_; left > 0;) {
      const std::size_t half = (left + 1) / 2;
      first += less_(first[half - 1], x) ? half : 0;
      left -= half;
    }
    const auto lower = static_cast<std::size_t>(first - splitters_);
    const bool equal = lower < splitters_count_ && !less_(x, *first);
    return 2 * lower + (equal ? 1 : 0);
  }

  block_division division_;
  const Less& less_;
  T* splitters_ = nullptr;
  std::size_t splitters_count_ = 0;
  std::uint64_t* counts_ = nullptr;
};

}  // namespace shoal::detail
