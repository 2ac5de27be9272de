// SPDX-License-Identifier: Apache-2.0
// Quicksort: keys are partitioned around a pivot, then both sides are sorted. Long ranges are tasks; short ones use
// std::sort. The first partitions are the critical path, so the speed-up on two workers is below two.
// Variants: keys of 32 or 64 bits, random or nearly sorted (one in a hundred displaced). The pivot depends only on the
// keys, so every run makes the same partitions. Work: keys. The check: the keys are sorted, and they are the same keys
// as before.
// Source: Hoare 1961; SYSTEMS: Chasapis 2014. Test: tests/unit/problems/quicksort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace problems::quicksort {

/// The minimum number of keys of a task: about 60 us of work.
inline constexpr std::ptrdiff_t k_leaf_keys = 2048;

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

template <class Key>
std::vector<Key> make_keys(std::size_t n, bool nearly_sorted, std::uint64_t seed) {
  std::vector<Key> keys(n);
  if (!nearly_sorted) {
    for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(mixed(seed + i));
    return keys;
  }
  for (std::size_t i = 0; i < n; ++i) keys[i] = static_cast<Key>(i);
  for (std::size_t k = 0; k < n / 200; ++k) std::swap(keys[mixed(seed + 2 * k) % n], keys[mixed(seed + 2 * k + 1) % n]);
  return keys;
}

template <class Key>
Key median_of_3(Key a, Key b, Key c) noexcept {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

/// The median of the medians of nine keys, spread over the range.
template <class Key>
Key pivot_of(const Key* first, const Key* last) noexcept {
  const std::ptrdiff_t step = (last - first) / 9;
  const auto middle = [&](std::ptrdiff_t i) {
    return median_of_3(first[i * step], first[(i + 1) * step], first[(i + 2) * step]);
  };
  return median_of_3(middle(0), middle(3), middle(6));
}

/// Partitions the range: no key before the returned position is above the pivot, no key from it on is below; neither
/// side is empty.
template <class Key>
Key* partition(Key* first, Key* last) noexcept {
  const Key pivot = pivot_of(first, last);
  Key* low = first - 1;
  Key* high = last;
  for (;;) {
    while (*++low < pivot) {
    }
    while (pivot < *--high) {
    }
    if (low >= high) return low == first ? first + 1 : low;
    std::swap(*low, *high);
  }
}

template <class Key>
bool is_leaf(const Key* first, const Key* last) noexcept {
  return last - first <= k_leaf_keys;
}

template <class Key>
void sort_leaf(Key* first, Key* last) {
  std::sort(first, last);
}

template <class Key>
void sort_serially(Key* first, Key* last) {
  if (is_leaf(first, last)) return sort_leaf(first, last);
  Key* const cut = partition(first, last);
  sort_serially(first, cut);
  sort_serially(cut, last);
}

/// A checksum that does not depend on the order of the keys.
template <class Key>
std::uint64_t fingerprint(const std::vector<Key>& keys) noexcept {
  std::uint64_t sum = keys.size();
  for (const Key key : keys) sum += mixed(static_cast<std::uint64_t>(key) + 0x9e3779b97f4a7c15);
  return sum;
}

template <class Key>
class key_set {
public:
  key_set() = default;
  key_set(std::size_t n, bool nearly_sorted) : given_(make_keys<Key>(n, nearly_sorted, 1)) {
    expected_ = fingerprint(given_);
  }
  void reset() { keys_ = given_; }
  bool is_sorted() const { return std::is_sorted(keys_.begin(), keys_.end()) && fingerprint(keys_) == expected_; }
  Key* begin() noexcept { return keys_.data(); }
  Key* end() noexcept { return keys_.data() + keys_.size(); }

private:
  std::vector<Key> given_;
  std::vector<Key> keys_;
  std::uint64_t expected_ = 0;
};

struct problem {
  static constexpr const char* k_name = "quicksort";
  static constexpr const char* k_work_unit = "key";
  static constexpr std::uint64_t k_size = 10'000'000;
  static constexpr std::uint64_t k_test_size = 100'000;
  static constexpr std::string_view k_variants[] = {"random32", "random64", "nearly32", "nearly64"};
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size, std::size_t variant = 0) : size_(size), wide_(variant % 2 == 1) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is the number of keys, 1 to 10^9");
    if (wide_)
      keys64_ = {size, variant >= 2};
    else
      keys32_ = {size, variant >= 2};
  }

  void prepare() {
    if (wide_)
      keys64_.reset();
    else
      keys32_.reset();
  }

  /// Calls sort(first, last) with pointers to the keys of either width.
  template <class Sort>
  void run(Sort&& sort) {
    if (wide_)
      sort(keys64_.begin(), keys64_.end());
    else
      sort(keys32_.begin(), keys32_.end());
  }

  bool valid(result) const { return wide_ ? keys64_.is_sorted() : keys32_.is_sorted(); }
  std::uint64_t work(result) const { return size_; }

private:
  std::uint64_t size_;
  bool wide_;
  key_set<std::uint32_t> keys32_;
  key_set<std::uint64_t> keys64_;
};

}  // namespace problems::quicksort
