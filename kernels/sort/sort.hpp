// SPDX-License-Identifier: Apache-2.0
// Sorting keys: six data sets of falling entropy, two forms, and the check of the result.
//   simple   shoal::sort with a comparison: sample sort, what serves any element
//   fast     shoal::sort of numbers: by their digits
// Key i of data set e is the AND of e + 1 random words; of data set 5 it is 0. So a key of 32 bits has 32, 25.95, 17.41,
// 10.78, 6.42 and 0 bits of entropy. The check: each key is not less than the one before, also across nodes, and the sum
// of a random function of the keys is that of the keys given; a wrong result passes with a probability of 2^-64.
// Who may call: tasks; they switch. Source: SYSTEMS: radix sort (Morari 2014, chapter 7). Test:
// tests/unit/tools/kernels_test.cpp.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "shoal/array.hpp"
#include "shoal/parallel_for.hpp"
#include "shoal/random.hpp"
#include "shoal/sort.hpp"

namespace shoal::kernels::sorting {

inline constexpr unsigned k_data_sets = 6;

template <class Key>
Key key_at(std::uint64_t seed, std::uint64_t i, unsigned entropy) noexcept {
  std::uint64_t word = entropy + 1 == k_data_sets ? 0 : ~std::uint64_t{0};
  if (word != 0)
    for (unsigned k = 0; k <= entropy; ++k) word &= splitmix64::at(seed + k * 0x100000001b3u, i);
  Key key;
  std::memcpy(&key, &word, sizeof(Key));
  return key;
}
template <class Key>
std::uint64_t fingerprint(Key key) noexcept {
  return mix64(detail::ordered_bits(key) + 0x9e3779b97f4a7c15u);
}

template <class Key>
void fill(const array_ref<Key>& keys, std::uint64_t seed, unsigned entropy) {
  parallel_for(owners_of(keys), keys.size(),
               [keys, seed, entropy](std::uint64_t i) { keys.async_put(i, key_at<Key>(seed, i, entropy)); });
}

template <class Key>
void simple(const array_ref<Key>& keys) {
  sort(keys, detail::radix_less{});
}
template <class Key>
void fast(const array_ref<Key>& keys) {
  sort(keys);
}

/// Whether `keys`, with equal blocks on the nodes, are the sorted keys of fill().
template <class Key>
bool is_right(const array_ref<Key>& keys, std::uint64_t seed, unsigned entropy) {
  struct found {
    std::uint64_t sum = 0;
    std::uint64_t descents = 0;
  };
  const auto plus = [](const found& a, const found& b) { return found{a.sum + b.sum, a.descents + b.descents}; };
  const found all = parallel_reduce(
      owners_of(keys), keys.size(), found{},
      [keys](std::uint64_t i) {
        const Key key = keys.get(i);
        const bool descent = i > 0 && detail::radix_less{}(key, keys.get(i - 1));
        return found{fingerprint(key), descent ? std::uint64_t{1} : 0};
      },
      plus);
  const std::uint64_t wanted = parallel_reduce(
      everywhere, keys.size(), std::uint64_t{0},
      [seed, entropy](std::uint64_t i) -> std::uint64_t { return fingerprint(key_at<Key>(seed, i, entropy)); },
      std::plus<>());
  return all.descents == 0 && all.sum == wanted;
}

}  // namespace shoal::kernels::sorting
