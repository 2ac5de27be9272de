// SPDX-License-Identifier: Apache-2.0
// Threads insert, change and erase few keys of one shard, and visit its tables, which grow meanwhile: no change is lost.
// How long, and with which seed: stress/rounds.hpp.
#include "shoal/detail/hash_shard.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "shoal/hash.hpp"
#include "shoal/random.hpp"
#include "stress/rounds.hpp"

namespace shoal::detail {
namespace {

using shard = hash_shard<std::uint64_t, std::uint64_t, hash<std::uint64_t>>;

// What a thread has added to all keys together, less what it has taken out.
std::uint64_t change(shard& s, std::uint64_t seed, std::uint64_t keys) {
  xoshiro256ss random(seed);
  std::uint64_t sum = 0;
  for (int step = 0; step < 5000; ++step) {
    const std::uint64_t key = random.below(keys);
    const std::uint64_t h = hash<std::uint64_t>()(key);
    switch (random.below(8)) {
      case 0:
        sum -= s.with(h, [&](shard::table& t) {
          const std::uint64_t* const at = t.find(h, key);
          const std::uint64_t had = at == nullptr ? 0 : *at;
          t.erase(h, key);
          return had;
        });
        break;
      case 1:
        s.with_table(random.below(s.tables()),
                     [](shard::table& t) { t.for_each([](shard::entry& e) { e.value += 0; }); });
        break;
      default:
        s.prefetch(h);
        s.with(h, [&](shard::table& t) {
          ++*t.find_or_make(h, std::uint64_t{key}, [] { return std::uint64_t{0}; }).first;
        });
        ++sum;
    }
  }
  return sum;
}

TEST(hash_shard_stress, no_change_is_lost) {
  stress::play_rounds([](std::uint64_t seed) {
    xoshiro256ss random(seed);
    const auto threads = static_cast<unsigned>(2 + random.below(5));
    const std::uint64_t keys = random.below(4) == 0 ? 3 : 1 + random.below(5000);
    shard s(threads, random.below(2) * keys);
    std::vector<std::uint64_t> sums(threads);
    std::vector<std::thread> running;
    for (unsigned t = 0; t < threads; ++t)
      running.emplace_back([&, t] { sums[t] = change(s, splitmix64::at(seed, t), keys); });
    for (std::thread& t : running) t.join();
    std::uint64_t expected = 0;
    for (const std::uint64_t sum : sums) expected += sum;
    std::uint64_t found = 0;
    for (std::size_t n = 0; n < s.tables(); ++n)
      s.with_table(n, [&found](shard::table& t) { t.for_each([&found](shard::entry& e) { found += e.value; }); });
    ASSERT_EQ(found, expected);
  });
}

}  // namespace
}  // namespace shoal::detail
