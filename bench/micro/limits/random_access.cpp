// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "bench/micro/limits/loops.hpp"
#include "bench/micro/limits/team.hpp"
#include "shoal/random.hpp"

namespace shoal::bench::limits {
namespace {

constexpr int k_chunk = 8192;  // operations between two readings of the clock

template <class Operation>
std::uint64_t repeat_until(const deadline& end, splitmix64 random, std::uint64_t count, Operation operation) {
  std::uint64_t done = 0;
  do {
    for (int i = 0; i < k_chunk; ++i) operation(below(random(), count));
    done += k_chunk;
  } while (!end.passed());
  return done;
}

}  // namespace

measured random_access(access kind, word_range table, const seats& where, const loop_options& options) {
  std::uint64_t before = kind == access::read ? 0 : table.sum();
  // Each thread updates its own slice with plain stores, so that no update is lost.
  std::uint64_t slice = table.count / static_cast<std::uint64_t>(where.count());
  std::atomic<std::uint64_t> indexes_read{0};  // each thread adds the numbers of the words that it read
  outcome result = run_team(where, [&](int me, share& mine) {
    splitmix64 random(options.seed * 1000 + static_cast<std::uint64_t>(me));
    deadline end(options.seconds);
    std::uint64_t* words = table.words;
    switch (kind) {
      case access::plain_update: {
        std::uint64_t* own = words + slice * static_cast<std::uint64_t>(me);
        mine.operations = repeat_until(end, random, slice, [=](std::uint64_t i) { own[i] += k_update; });
        break;
      }
      case access::atomic_update:
        mine.operations = repeat_until(end, random, table.count, [=](std::uint64_t i) {
          std::atomic_ref<std::uint64_t>(words[i]).fetch_add(k_update, std::memory_order_relaxed);
        });
        break;
      case access::read: {
        std::uint64_t sum = 0;
        std::uint64_t indexes = 0;
        mine.operations = repeat_until(end, random, table.count, [&](std::uint64_t i) {
          sum += words[i];
          indexes += i;
        });
        mine.sum = sum;
        indexes_read.fetch_add(indexes, std::memory_order_relaxed);
        break;
      }
    }
  });
  bool correct = kind == access::read ? is_sum_of_content(result.sum, indexes_read.load())
                                      : is_sum_after(table.sum(), before, result.operations);
  return {result.mops(), correct};
}

measured window_update(word_range table, const seats& where, const loop_options& options) {
  std::uint64_t before = table.sum();
  outcome result = run_team(where, [&](int me, share& mine) {
    constexpr std::size_t k_most = 1024;
    std::size_t window = options.window;
    std::uint64_t* waiting[k_most];
    splitmix64 random(options.seed * 1000 + static_cast<std::uint64_t>(me));
    deadline end(options.seconds);
    std::uint64_t* words = table.words;
    std::uint64_t count = table.count;
    auto add = [](std::uint64_t* word) {
      std::atomic_ref<std::uint64_t>(*word).fetch_add(k_update, std::memory_order_relaxed);
    };
    auto enter = [&](std::size_t slot) {
      std::uint64_t* word = words + below(random(), count);
      __builtin_prefetch(word, 1);
      waiting[slot] = word;
    };
    for (std::size_t slot = 0; slot < window; ++slot) enter(slot);
    std::uint64_t done = 0;
    do {
      for (int round = 0; round < k_chunk / 32; ++round) {
        for (std::size_t slot = 0; slot < window; ++slot) {
          add(waiting[slot]);
          enter(slot);
        }
        done += window;
      }
    } while (!end.passed());
    for (std::size_t slot = 0; slot < window; ++slot) add(waiting[slot]);
    mine.operations = done + window;
  });
  return {result.mops(), is_sum_after(table.sum(), before, result.operations)};
}

}  // namespace shoal::bench::limits
