// SPDX-License-Identifier: Apache-2.0
// Sorting keys of 32 bits by what the library of each runtime offers for it. Variants: data sets of falling entropy; key i
// of `and1` ... `and5` is the AND of 1 to 5 random words, of `zero` it is 0. Work: keys. The check: the keys are sorted,
// and they are the same keys as before.
// Source: SYSTEMS: radix sort (Morari 2014, chapter 7). Test: tests/unit/problems/sort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <variant>
#include <vector>

namespace problems::sort {

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

inline std::uint64_t fingerprint(const std::vector<std::uint32_t>& keys) noexcept {
  std::uint64_t sum = keys.size();
  for (const std::uint32_t key : keys) sum += mixed(key + 0x9e3779b97f4a7c15);
  return sum;
}

struct problem {
  static constexpr const char* k_name = "sort";
  static constexpr const char* k_work_unit = "key";
  static constexpr std::uint64_t k_size = 100'000'000;
  static constexpr std::uint64_t k_test_size = 100'000;
  static constexpr std::string_view k_variants[] = {"and1", "and2", "and3", "and4", "and5", "zero"};
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size, std::size_t variant = 0) : given_(checked(size)) {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      std::uint32_t key = variant < 5 ? ~std::uint32_t{0} : 0;
      for (std::size_t k = 0; key != 0 && k <= variant; ++k) key &= static_cast<std::uint32_t>(mixed(8 * i + k + 1));
      given_[i] = key;
    }
    expected_ = fingerprint(given_);
  }

  void prepare() { keys = given_; }
  bool valid(result) const { return std::is_sorted(keys.begin(), keys.end()) && fingerprint(keys) == expected_; }
  std::uint64_t work(result) const { return keys.size(); }

  std::vector<std::uint32_t> keys;

private:
  static std::uint64_t checked(std::uint64_t size) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is the number of keys, 1 to 10^9");
    return size;
  }

  std::vector<std::uint32_t> given_;
  std::uint64_t expected_ = 0;
};

}  // namespace problems::sort
