// SPDX-License-Identifier: Apache-2.0
// One pass of a radix sort over one block of keys: what the keys are like, how many have each digit, and their
// distribution by the digit. Who may call: any thread, each for its own block. Never switches tasks.
// Guarantees: keys with the same digit keep their order.
// Source: SYSTEMS: radix sort (Morari 2014, chapter 7). Shown by tests/unit/algorithms/radix_sort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "shoal/detail/columns.hpp"
#include "shoal/detail/line_writer.hpp"
#include "shoal/detail/radix_key.hpp"

namespace shoal::detail {

/// Measured: 11-11-10 bits sort 32-bit keys in less time than 8-8-8-8 and 7-7-6-6-6, and in nearly the same time for
/// all data sets of falling entropy. Narrow digits are for few keys.
inline constexpr unsigned k_wide_digit_bits = 11;
inline constexpr unsigned k_narrow_digit_bits = 8;

struct radix_digit {
  unsigned shift = 0;
  unsigned bits = 0;

  std::size_t count() const noexcept { return std::size_t{1} << bits; }
  template <class Key>
  std::size_t of(Key key) const noexcept {
    return static_cast<std::size_t>(ordered_bits(key) >> shift) & (count() - 1);
  }
  /// Whether keys that differ in these bits differ in this digit.
  bool among(std::uint64_t bits_that_differ) const noexcept { return (bits_that_differ >> shift & (count() - 1)) != 0; }
};

/// What a sort learns before its first pass.
struct key_survey {
  std::uint64_t all = ~std::uint64_t{0};  // the bits that are set in all keys
  std::uint64_t any = 0;                  // in any

  std::uint64_t differing() const noexcept { return any & ~all; }
  friend key_survey operator+(const key_survey& a, const key_survey& b) noexcept {
    return {a.all & b.all, a.any | b.any};
  }

  template <class Key>
  void add(const Key* keys, std::size_t count) noexcept {
    using bits = decltype(ordered_bits(Key{}));
    bits both = static_cast<bits>(~bits{0});
    bits either = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bits b = ordered_bits(keys[i]);
      both &= b;
      either |= b;
    }
    all &= both;
    any |= either;
  }
};

/// Whether none of `count` keys is less than the one before it. Without branches, so that it uses vectors.
template <class Key>
bool in_order(const Key* keys, std::size_t count) noexcept {
  using bits = decltype(ordered_bits(Key{}));
  bits descents = 0;
  for (std::size_t i = 1; i < count; ++i)
    descents |= static_cast<bits>(ordered_bits(keys[i]) < ordered_bits(keys[i - 1]));
  return descents == 0;
}

/// Counts digits in several tables, so that equal digits one behind the other do not wait for each other's addition.
class digit_counter {
  static constexpr std::size_t k_tables = 4;
  static constexpr std::size_t k_most_keys = std::size_t{1} << 31;  // between two calls of move_to

public:
  static constexpr std::size_t words(std::size_t digits) noexcept { return k_tables * digits; }

  /// `memory`: words(digits) of them.
  digit_counter(std::uint32_t* memory, radix_digit digit) noexcept : words_(memory), digit_(digit) {
    std::fill_n(words_, k_tables * digit_.count(), 0);
  }
  template <class Key>
  void add(const Key* keys, std::size_t count, std::uint64_t* counts) noexcept {
    added_ += count;
    if (added_ > k_most_keys) move_to(counts);
    std::uint32_t* const t = words_;
    const std::size_t width = digit_.count();
    std::size_t i = 0;
    for (; i + k_tables <= count; i += k_tables) {
      ++t[digit_.of(keys[i])];
      ++t[digit_.of(keys[i + 1]) + width];
      ++t[digit_.of(keys[i + 2]) + 2 * width];
      ++t[digit_.of(keys[i + 3]) + 3 * width];
    }
    for (; i < count; ++i) ++t[digit_.of(keys[i])];
  }
  /// Adds what has been counted.
  void move_to(std::uint64_t* counts) noexcept {
    for (std::size_t i = 0; i < k_tables * digit_.count(); ++i)
      counts[i % digit_.count()] += std::exchange(words_[i], 0);
    added_ = 0;
  }

private:
  std::uint32_t* words_;
  radix_digit digit_;
  std::size_t added_ = 0;
};

/// Keys that are read twice while they are in the first cache.
inline constexpr std::size_t k_keys_together = 4096;

/// Counts the digits of the keys in `counts`; with a survey, surveys them too. `more`: there is a key behind them.
template <class Key>
void count_digits(const Key* keys, std::size_t count, radix_digit digit, std::uint32_t* words, std::uint64_t* counts,
                  key_survey* survey = nullptr) noexcept {
  std::fill_n(counts, digit.count(), 0);
  digit_counter counter(words, digit);
  for (std::size_t begin = 0; begin < count; begin += k_keys_together) {
    const std::size_t some = std::min(count - begin, k_keys_together);
    if (survey != nullptr) survey->add(keys + begin, some);
    counter.add(keys + begin, some, counts);
  }
  counter.move_to(counts);
}

/// The memory of a worker for distribution.
struct radix_buffers {
  std::uint32_t* counter = nullptr;  // digit_counter::words()
  std::uint64_t* begins = nullptr;   // one per digit
  std::byte* key_lines = nullptr;    // a line per digit
  std::byte* value_lines = nullptr;
};

/// Puts each element to the next place of its digit: next[digit], which it advances. `lines`: through the buffers.
template <class Key, class Value>
void distribute(const columns<Key, Value>& from, std::size_t count, const columns<Key, Value>& to, radix_digit digit,
                std::uint64_t* next, const radix_buffers& buffers, bool lines) noexcept {
  constexpr bool k_valued = columns<Key, Value>::k_valued;
  if (!lines) {
    for (std::size_t i = 0; i < count; ++i) from.copy_one(i, to, next[digit.of(from.keys[i])]++);
    return;
  }
  std::uint64_t* const begins = buffers.begins;
  std::copy_n(next, digit.count(), begins);
  line_writer<Key> keys(to.keys, buffers.key_lines);
  line_writer<Value> values(to.values, buffers.value_lines);
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = from.keys[i];
    const std::size_t d = digit.of(key);
    const std::uint64_t at = next[d]++;
    keys.put(d, at, begins[d], key);
    if constexpr (k_valued) values.put(d, at, begins[d], from.values[i]);
  }
  for (std::size_t d = 0; d < digit.count(); ++d) {
    keys.finish(d, begins[d], next[d]);
    if constexpr (k_valued) values.finish(d, begins[d], next[d]);
  }
  finish_streams();
}

}  // namespace shoal::detail
