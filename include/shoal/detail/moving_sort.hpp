// SPDX-License-Identifier: Apache-2.0
// Sorts elements that can be moved but not copied as bytes, with all workers of this process: a sample gives splitters,
// all elements move to the buckets between them, each bucket is sorted by the standard library and moves back. Elements
// equal to a splitter have a bucket of their own, so that many equal elements are no bucket that one worker must sort.
// Who may call: tasks. It switches. Guarantees: stable if asked for. After an exception of a comparison all elements
// are back, in any order, but one that std::sort held may be moved-from. After an exception of a move some are
// moved-from. Errors: std::bad_alloc before anything moves. Source: Sanders, Winkel, "Super scalar sample sort" (2004).
// Tests: tests/unit/algorithms/parallel_sort_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "shoal/detail/block_division.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/loop.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

template <bool Stable, class Iterator, class Less>
void sort_alone(Iterator first, Iterator last, const Less& less) {
  const auto before = [&less](const auto& a, const auto& b) -> bool { return less(a, b); };
  if constexpr (Stable)
    std::stable_sort(first, last, before);
  else
    std::sort(first, last, before);
}

/// By exchanging elements in their place: a quicksort whose parts are tasks. The first division is one worker's, so it
/// is for few workers. It makes no more than O(n log n) comparisons, because deep parts are left to std::sort.
template <class Iterator, class Less>
class exchange_sorter {
  static constexpr std::size_t k_alone = 1024;

public:
  explicit exchange_sorter(const Less& less) noexcept : less_(less) {}

  void run(Iterator first, std::size_t count) {
    group_.run([this, first, count] { sort(first, count, 2 * static_cast<unsigned>(std::bit_width(count))); });
    group_.wait();
  }

private:
  static Iterator at(Iterator first, std::size_t i) { return first + static_cast<std::iter_difference_t<Iterator>>(i); }
  void sort(Iterator first, std::size_t count, unsigned depth) {
    for (; count > k_alone && depth > 0; --depth) {
      const std::size_t middle = divide(first, count);
      group_.run(
          [this, right = at(first, middle + 1), size = count - middle - 1, depth] { sort(right, size, depth - 1); });
      count = middle;
    }
    sort_alone<false>(first, at(first, count), less_);
  }
  std::size_t median(Iterator first, std::size_t a, std::size_t b, std::size_t c) const {
    const auto before = [&](std::size_t i, std::size_t j) -> bool { return less_(*at(first, i), *at(first, j)); };
    if (before(a, b)) return before(b, c) ? b : before(a, c) ? c : a;
    return before(c, b) ? b : before(c, a) ? c : a;
  }
  /// Brings what is less than some element in front of it, and what is greater behind it; equal ones go to both sides.
  /// Returns the place of that element.
  std::size_t divide(Iterator first, std::size_t count) const {
    const std::size_t step = count / 8;
    const std::size_t pivot =
        median(first, median(first, 0, step, 2 * step), median(first, 3 * step, 4 * step, 5 * step),
               median(first, 6 * step, 7 * step, count - 1));
    std::iter_swap(first, at(first, pivot));
    std::size_t i = 0;
    std::size_t j = count;
    for (;;) {
      do --j;
      while (less_(*first, *at(first, j)));
      do {
        if (i == j) break;
        ++i;
      } while (less_(*at(first, i), *first));
      if (i == j) break;
      std::iter_swap(at(first, i), at(first, j));
    }
    std::iter_swap(first, at(first, j));
    return j;
  }

  const Less& less_;
  task_group group_;
};

template <bool Stable, class Iterator, class Less>
class moving_sorter {
  using T = std::iter_value_t<Iterator>;
  static constexpr std::size_t k_least_block = std::size_t{1} << 10;
  static constexpr std::size_t k_most_splitters = 255;
  static constexpr std::size_t k_samples_per_splitter = 8;
  // Elements of a bucket: fewer would cost more to distribute than to sort together.
  static constexpr std::size_t k_bucket = 256;

public:
  moving_sorter(Iterator first, std::size_t count, const Less& less)
      : first_(first), division_(count, k_least_block, worker_here().siblings), less_(less) {}
  moving_sorter(const moving_sorter&) = delete;
  moving_sorter& operator=(const moving_sorter&) = delete;
  ~moving_sorter() {
    if (spare_ != nullptr) std::allocator<T>().deallocate(spare_, division_.count);
  }

  void run() {
    if (division_.count < 2 * k_least_block || worker_here().siblings == 1)
      return sort_alone<Stable>(first_, at(division_.count), less_);
    choose_splitters();
    std::vector<std::uint16_t> which(division_.count);
    begins_.resize(division_.blocks * (buckets() + 1));
    spare_ = std::allocator<T>().allocate(division_.count);
    division_.run([&](std::size_t block) {
      std::uint64_t* const counts = begins_of(block);
      for (std::size_t i = division_.begin(block); i < division_.begin(block + 1); ++i) {
        which[i] = bucket_of(*at(i));
        ++counts[which[i]];
      }
    });
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket < buckets(); ++bucket)
      for (std::size_t b = 0; b < division_.blocks; ++b) sum += std::exchange(begins_of(b)[bucket], sum);
    begins_of(0)[buckets()] = sum;
    move_out(which);
    parallel_for(
        buckets(), [this](std::size_t bucket) { sort_bucket(bucket); }, simple_partitioner{1});
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

private:
  Iterator at(std::size_t i) const { return first_ + static_cast<std::iter_difference_t<Iterator>>(i); }
  /// Even: between two splitters; odd: equal to one.
  std::size_t buckets() const noexcept { return 2 * splitters_.size() + 1; }
  /// Where the next element of each bucket goes that comes from `block`; of block 0: where the bucket begins.
  std::uint64_t* begins_of(std::size_t block) noexcept { return begins_.data() + block * (buckets() + 1); }

  void keep(std::exception_ptr e) noexcept {
    const std::lock_guard hold(guard_);
    if (!thrown_) thrown_ = std::move(e);
    failed_.store(true, std::memory_order_relaxed);
  }

  void choose_splitters() {
    const std::size_t wanted = std::min(k_most_splitters, std::bit_floor(division_.count / k_bucket) - 1);
    std::vector<Iterator> sample;
    sample.reserve(wanted * k_samples_per_splitter);
    xoshiro256ss random(division_.count);
    while (sample.size() < wanted * k_samples_per_splitter) sample.push_back(at(random.below(division_.count)));
    sort_alone<false>(sample.begin(), sample.end(), [this](Iterator a, Iterator b) -> bool { return less_(*a, *b); });
    for (std::size_t i = 0; i < wanted; ++i) {
      const Iterator next = sample[i * k_samples_per_splitter + k_samples_per_splitter / 2];
      if (splitters_.empty() || less_(*splitters_.back(), *next)) splitters_.push_back(next);
    }
  }
  std::uint16_t bucket_of(const T& x) const {
    // The first splitter that is not less than x.
    const Iterator* first = splitters_.data();
    for (std::size_t left = splitters_.size(); left > 0;) {
      const std::size_t half = (left + 1) / 2;
      first += less_(*first[half - 1], x) ? half : 0;
      left -= half;
    }
    const auto lower = static_cast<std::size_t>(first - splitters_.data());
    const bool equal = lower < splitters_.size() && !less_(x, **first);
    return static_cast<std::uint16_t>(2 * lower + (equal ? 1 : 0));
  }

  void move_out(const std::vector<std::uint16_t>& which) {
    std::vector<std::uint64_t> next(begins_);  // the elements of [begin, next) are there
    const auto move_block = [&](std::size_t block) {
      std::uint64_t* const to = next.data() + block * (buckets() + 1);
      for (std::size_t i = division_.begin(block); i < division_.begin(block + 1); ++i) {
        std::construct_at(spare_ + to[which[i]], std::move(*at(i)));
        ++to[which[i]];
      }
    };
    try {
      division_.run(move_block);
    } catch (...) {  // of a move
      for (std::size_t block = 0; block < division_.blocks; ++block)
        for (std::size_t bucket = 0; bucket < buckets(); ++bucket)
          std::destroy(spare_ + begins_of(block)[bucket], spare_ + next[block * (buckets() + 1) + bucket]);
      throw;
    }
  }

  void sort_bucket(std::size_t bucket) {
    T* const begin = spare_ + begins_of(0)[bucket];
    T* const end = spare_ + begins_of(0)[bucket + 1];
    try {
      if (bucket % 2 == 0 && !failed_.load(std::memory_order_relaxed)) sort_alone<Stable>(begin, end, less_);
    } catch (...) {
      keep(std::current_exception());
    }
    try {
      std::move(begin, end, at(begins_of(0)[bucket]));
    } catch (...) {
      keep(std::current_exception());
    }
    std::destroy(begin, end);
  }

  Iterator first_;
  block_division division_;
  const Less& less_;
  std::vector<Iterator> splitters_;
  std::vector<std::uint64_t> begins_;  // of each block, for each bucket
  T* spare_ = nullptr;
  mutex guard_;
  std::exception_ptr thrown_;        // the first; under guard_
  std::atomic<bool> failed_{false};  // a hint; partners: keep() of other workers
};

}  // namespace shoal::detail
