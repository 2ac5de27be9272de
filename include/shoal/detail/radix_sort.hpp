// SPDX-License-Identifier: Apache-2.0
// LSD radix sort of keys, with values beside them or without, by all workers of this process: for each digit, a
// histogram of each block of keys, the places of its digits by a prefix sum, and distribution through buffers of a line
// per digit. A digit that all keys share is skipped; keys in order are not moved.
// Who may call: tasks. It may switch; the caller brings all memory, so it does not fail.
// Guarantees: stable. Source: SYSTEMS: radix sort (Morari 2014, chapter 7); Wassenberg, Sanders (2011).
// Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/block_division.hpp"
#include "shoal/detail/radix_pass.hpp"
#include "shoal/detail/scratch_memory.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

/// Up to so many elements, insertion is faster than counting.
inline constexpr std::size_t k_most_inserted = 48;

template <class Key, class Value, class Less>
void insertion_sort(const columns<Key, Value>& c, std::size_t count, const Less& less) {
  for (std::size_t i = 1; i < count; ++i) {
    if (!less(c.keys[i], c.keys[i - 1])) continue;
    const Key key = c.keys[i];
    [[maybe_unused]] Value value{};
    if constexpr (columns<Key, Value>::k_valued) value = c.values[i];
    std::size_t j = i;
    for (; j > 0 && less(key, c.keys[j - 1]); --j) c.copy_one(j - 1, c, j);
    c.keys[j] = key;
    if constexpr (columns<Key, Value>::k_valued) c.values[j] = value;
  }
}

template <radix_key Key, class Value>
class radix_sorter {
  using pair = columns<Key, Value>;
  static constexpr unsigned k_key_bits = 8 * sizeof(Key);
  static constexpr std::size_t k_least_wide = std::size_t{1} << 20;   // keys; fewer have narrow digits
  static constexpr std::size_t k_least_block = std::size_t{1} << 15;  // keys
  static constexpr std::size_t k_least_line_bytes = std::size_t{1} << 22;

public:
  explicit radix_sorter(std::size_t count, unsigned workers = worker_here().siblings) noexcept
      : division_(count, count < k_least_wide ? k_least_block : 8 * k_least_block, workers),
        workers_(division_.blocks == 1 ? 1 : workers) {
    const unsigned most = count < k_least_wide ? k_narrow_digit_bits : k_wide_digit_bits;
    passes_ = (k_key_bits + most - 1) / most;
    digits_ = digit_of(0).count();
    lines_ = count * pair::k_bytes >= k_least_line_bytes;
  }

  /// The memory that run() takes besides the elements.
  std::size_t room_bytes() const noexcept {
    using room = scratch_memory;
    const std::size_t line_bytes = lines_ ? (pair::k_valued ? 2 : 1) * digits_ * k_line_bytes : 0;
    return room::bytes_for<std::uint64_t>(division_.blocks * digits_) + room::bytes_for<key_survey>(division_.blocks) +
           room::bytes_for<radix_buffers>(workers_) +
           workers_ * (room::bytes_for<std::uint32_t>(digit_counter::words(digits_)) +
                       room::bytes_for<std::uint64_t>(digits_) + line_bytes);
  }

  /// Whether run() would move nothing. Stops at the first keys that are out of order.
  bool in_order(const Key* keys) const {
    std::atomic<bool> sorted{true};
    division_.run([&](std::size_t block) {
      const std::size_t begin = division_.begin(block);
      const std::size_t end =
          std::min(begin + division_.size(block) + 1, division_.count);  // with the next one's first
      for (std::size_t i = begin; i + 1 < end && sorted.load(std::memory_order_relaxed); i += k_keys_together)
        if (!detail::in_order(keys + i, std::min(end - i, k_keys_together + 1)))
          sorted.store(false, std::memory_order_relaxed);
    });
    return sorted.load(std::memory_order_relaxed);
  }

  /// Sorts `data`; `spare` has room for as many. The result is in `spare` if `to_spare`, else in `data`.
  void run(pair data, pair spare, scratch_memory& room, bool to_spare = false) {
    if (division_.count <= k_most_inserted) {
      insertion_sort(data, division_.count, radix_less{});
      if (to_spare) data.copy_to(spare, division_.count);
      return;
    }
    take(room);
    const pair target = to_spare ? spare : data;
    for (unsigned pass = in_order(data.keys) ? passes_ : 0; pass < passes_; ++pass) {
      const radix_digit digit = digit_of(pass);
      if (pass > 0 && !digit.among(differing_)) continue;
      count(data, digit, pass == 0);
      if (pass == 0 && !digit.among(differing_)) continue;
      make_places(digit);
      move(data, spare, digit);
      std::swap(data, spare);
    }
    if (data.keys != target.keys) copy(data, target);
  }

private:
  /// Digits of nearly equal width, the wider ones first.
  radix_digit digit_of(unsigned pass) const noexcept {
    const unsigned wider = k_key_bits % passes_;
    const unsigned width = k_key_bits / passes_;
    return {pass * width + std::min(pass, wider), width + (pass < wider ? 1 : 0)};
  }

  void take(scratch_memory& room) noexcept {
    counts_ = room.take<std::uint64_t>(division_.blocks * digits_);
    surveys_ = room.take<key_survey>(division_.blocks);
    buffers_ = room.take<radix_buffers>(workers_);
    for (unsigned w = 0; w < workers_; ++w) {
      radix_buffers& b = buffers_[w];
      b.counter = room.take<std::uint32_t>(digit_counter::words(digits_));
      b.begins = room.take<std::uint64_t>(digits_);
      b.key_lines = lines_ ? room.take<std::byte>(digits_ * k_line_bytes) : nullptr;
      b.value_lines = lines_ && pair::k_valued ? room.take<std::byte>(digits_ * k_line_bytes) : nullptr;
    }
  }
  std::uint64_t* counts_of(std::size_t block) const noexcept { return counts_ + block * digits_; }
  // The buffers of this worker, which a block has for itself, since it does not wait. TSan is told the order of the
  // blocks, which it does not see where they run on different stacks of the worker.
  class buffers_here {
  public:
    explicit buffers_here(const radix_sorter& sorter) noexcept
        : buffers_(sorter.buffers_[sorter.workers_ == 1 ? 0 : worker_here().index]) {
      acquire_from(&buffers_);
    }
    buffers_here(const buffers_here&) = delete;
    buffers_here& operator=(const buffers_here&) = delete;
    ~buffers_here() { release_to(&buffers_); }
    const radix_buffers* operator->() const noexcept { return &buffers_; }
    const radix_buffers& operator*() const noexcept { return buffers_; }

  private:
    radix_buffers& buffers_;
  };

  void count(const pair& data, radix_digit digit, bool first) {
    division_.run([&, first](std::size_t block) {
      const std::size_t begin = division_.begin(block);
      key_survey survey;
      const buffers_here mine(*this);
      count_digits(data.keys + begin, division_.size(block), digit, mine->counter, counts_of(block),
                   first ? &survey : nullptr);
      if (first) surveys_[block] = survey;
    });
    if (!first) return;
    key_survey all;
    for (std::size_t b = 0; b < division_.blocks; ++b) all = all + surveys_[b];
    differing_ = all.differing();
  }

  /// Turns the counts into the place of the first element of each block and digit.
  void make_places(radix_digit digit) const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t d = 0; d < digit.count(); ++d)
      for (std::size_t b = 0; b < division_.blocks; ++b) sum += std::exchange(counts_of(b)[d], sum);
  }

  void move(const pair& from, const pair& to, radix_digit digit) const {
    bool lines = lines_ && line_writer<Key>::serves(to.keys);
    if constexpr (pair::k_valued) lines = lines && line_writer<Value>::serves(to.values);
    division_.run([&, lines](std::size_t block) {
      const buffers_here mine(*this);
      distribute(from.from(division_.begin(block)), division_.size(block), to, digit, counts_of(block), *mine, lines);
    });
  }
  void copy(const pair& from, const pair& to) const {
    division_.run([&](std::size_t block) {
      const std::size_t begin = division_.begin(block);
      from.from(begin).copy_to(to.from(begin), division_.size(block));
    });
  }

  block_division division_;
  unsigned workers_;
  unsigned passes_;
  std::size_t digits_;  // of the widest
  bool lines_;          // less stays in caches, where ordinary stores are faster
  std::uint64_t* counts_ = nullptr;
  key_survey* surveys_ = nullptr;
  radix_buffers* buffers_ = nullptr;
  std::uint64_t differing_ = 0;
};

}  // namespace shoal::detail
