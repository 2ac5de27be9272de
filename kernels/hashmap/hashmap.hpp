// SPDX-License-Identifier: Apache-2.0
// Concurrent access to a hash map of strings. The map begins with every tenth word of a pool. Each step takes a word of
// the pool and looks it up; if it is present, the word reversed is stored, and counted if it is there already.
//   simple   a loop over tasks, each with a blocking look-up per step
//   fast     each task looks up many words at once, and stores by async_add
// Which words a task takes is a function of (seed, task, step), so the look-ups can be repeated; whether a word that
// another task stores is found depends on the order, but which results are possible does not: see fault_of().
// Both return the number of words found. Who may call: a task; they switch.
// Source: Morari 2014, section 5.6.4 (concurrent hash map access). There a task goes on with the reversed word.
// Test: tests/cluster/kernels_test.cpp; measured by `shoal hashmap`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/hashmap/words.hpp"
#include "shoal/global_map.hpp"
#include "shoal/global_vector.hpp"
#include "shoal/parallel_for.hpp"

namespace shoal::kernels::hashmap {

using string_map = global_map<std::string, std::uint64_t>;
using string_map_ref = map_ref<std::string, std::uint64_t>;

struct options {
  std::uint64_t tasks = 4096;
  std::uint64_t length = 256;  // steps of a task
  std::uint64_t seed = 1;
};

inline constexpr std::uint64_t k_share = 10;  // one word of so many is in the map at first

inline std::uint64_t word_of(const options& o, std::uint64_t task, std::uint64_t step, std::uint64_t words) noexcept {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(wide{splitmix64::at(mix64(o.seed) ^ task, step)} * words >> 64);
}
inline std::string reversed(std::string word) {
  std::ranges::reverse(word);
  return word;
}

/// The first contents: how often each word was stored, 0.
inline void fill(const string_map_ref& map, const word_pool_ref& words) {
  map.clear();
  parallel_for(everywhere, (words.size() + k_share - 1) / k_share,
               [map, words](std::uint64_t i) { map.async_insert(words.at(i * k_share), 0); });
}

inline std::uint64_t simple(const string_map_ref& map, const word_pool_ref& words, const options& o) {
  return parallel_reduce(
      everywhere, o.tasks, std::uint64_t{0},
      [=](std::uint64_t task) {
        std::uint64_t found = 0;
        for (std::uint64_t step = 0; step < o.length; ++step) {
          const std::string word = words.at(word_of(o, task, step, words.size()));
          if (!map.contains(word)) continue;
          map.async_add(reversed(word), 1);
          ++found;
        }
        return found;
      },
      std::plus<>());
}

inline std::uint64_t fast(const string_map_ref& map, const word_pool_ref& words, const options& o) {
  return parallel_reduce(
      everywhere, o.tasks, std::uint64_t{0},
      [=](std::uint64_t task) {
        constexpr std::uint64_t k_together = 256;
        std::vector<std::string> some;
        std::vector<std::optional<std::uint64_t>> counts;
        std::uint64_t found = 0;
        for (std::uint64_t step = 0; step < o.length;) {
          some.clear();
          for (; step < o.length && some.size() < k_together; ++step)
            some.push_back(words.at(word_of(o, task, step, words.size())));
          counts.resize(some.size());
          map.get(some, counts);
          for (std::size_t i = 0; i < some.size(); ++i) {
            if (!counts[i]) continue;
            map.async_add(reversed(some[i]), 1);
            ++found;
          }
        }
        return found;
      },
      std::plus<>());
}

/// What is wrong with the map, compared with what a sequential program knows of the look-ups; empty if nothing.
/// A word of the first contents is found whenever it is looked up; its reversed word is counted exactly so often, if no
/// other word is like it. A word that was stored later may have been found by each look-up or by none before it was
/// stored; a word never stored, by none. The sum of all counts is the number of words found.
std::string fault_of(const string_map_ref& map, const word_pool_ref& words, const options& o, std::uint64_t found);

}  // namespace shoal::kernels::hashmap
