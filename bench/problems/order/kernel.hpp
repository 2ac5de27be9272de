// SPDX-License-Identifier: Apache-2.0
// Sorting elements between iterators, by each library's parallel_sort; the problem `sort` is about keys of 32 bits.
// Variants: `keys64`: random integers of 64 bits; `sorted64`: the same in order; `few64`: 100 different ones;
// `structs`: 32 bytes, compared by a key of 64 bits; `strings`: of 8 to 39 characters, a few of them in the object.
// Work: elements. The check: they are in order, and they are the same as before.
// Test: tests/unit/problems/order_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace problems::order {

inline std::uint64_t mixed(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

struct record {
  std::uint64_t key;
  std::array<std::uint64_t, 3> more;
};
struct by_key {
  bool operator()(const record& a, const record& b) const noexcept { return a.key < b.key; }
};

inline std::uint64_t hash_of(std::uint64_t x) noexcept { return mixed(x + 0x9e3779b97f4a7c15); }
inline std::uint64_t hash_of(const record& r) noexcept { return hash_of(r.key ^ hash_of(r.more[0] + r.more[2])); }
inline std::uint64_t hash_of(const std::string& s) noexcept { return std::hash<std::string>()(s); }

template <class T>
std::uint64_t fingerprint(const std::vector<T>& all) noexcept {
  std::uint64_t sum = all.size();
  for (const T& x : all) sum += hash_of(x);
  return sum;
}

struct problem {
  static constexpr const char* k_name = "order";
  static constexpr const char* k_work_unit = "element";
  static constexpr std::uint64_t k_size = 10'000'000;
  static constexpr std::uint64_t k_test_size = 50'000;
  static constexpr std::string_view k_variants[] = {"keys64", "sorted64", "few64", "structs", "strings"};
  using result = std::monostate;  // the problem contains the result

  explicit problem(std::uint64_t size, std::size_t variant = 0) {
    if (size < 1 || size > 1'000'000'000) throw std::invalid_argument("the size is the number of elements, 1 to 10^9");
    const auto fill = [size](auto& all, const auto& make) {
      all.reserve(size);
      for (std::uint64_t i = 0; i < size; ++i) all.push_back(make(i, mixed(i + 1)));
    };
    if (variant == 3)
      fill(given_.records, [](std::uint64_t i, std::uint64_t x) { return record{x, {i, 0, x}}; });
    else if (variant == 4)
      fill(given_.strings, [](std::uint64_t i, std::uint64_t x) {
        std::string s;
        for (std::uint64_t k = 0; k < 8 + x % 32; ++k) s.push_back(static_cast<char>('a' + mixed(64 * i + k) % 26));
        return s;
      });
    else
      fill(given_.keys, [variant](std::uint64_t i, std::uint64_t x) {
        return variant == 1 ? 3 * i : variant == 2 ? x % 100 : x;
      });
    expected_ = given_.fingerprints();
  }

  void prepare() { now_ = given_; }
  /// Calls sort(first, last, less) for the elements of the variant.
  template <class Sort>
  void sort_by(const Sort& sort) {
    if (!now_.records.empty())
      sort(now_.records.begin(), now_.records.end(), by_key());
    else if (!now_.strings.empty())
      sort(now_.strings.begin(), now_.strings.end(), std::less<>());
    else
      sort(now_.keys.begin(), now_.keys.end(), std::less<>());
  }
  bool valid(result) const {
    return std::is_sorted(now_.keys.begin(), now_.keys.end()) &&
           std::is_sorted(now_.records.begin(), now_.records.end(), by_key()) &&
           std::is_sorted(now_.strings.begin(), now_.strings.end()) && now_.fingerprints() == expected_;
  }
  std::uint64_t work(result) const { return now_.keys.size() + now_.records.size() + now_.strings.size(); }

private:
  struct elements {  // of one kind
    std::vector<std::uint64_t> keys;
    std::vector<record> records;
    std::vector<std::string> strings;
    std::uint64_t fingerprints() const noexcept {
      return fingerprint(keys) ^ fingerprint(records) ^ fingerprint(strings);
    }
  };

  elements given_;
  elements now_;
  std::uint64_t expected_ = 0;
};

}  // namespace problems::order
