// SPDX-License-Identifier: Apache-2.0
// Random calls of parallel_for_each, parallel_pipeline, parallel_scan, parallel_sort and per_worker, nested in loops,
// with 1 to 6 workers, waits at random places, exceptions and stop requests. What each must give is known beforehand;
// an item that is lost is a test that does not end. How long, and with which seed: stress/rounds.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/loop.hpp"
#include "shoal/parallel_for_each.hpp"
#include "shoal/parallel_pipeline.hpp"
#include "shoal/parallel_scan.hpp"
#include "shoal/parallel_sort.hpp"
#include "shoal/per_worker.hpp"
#include "shoal/random.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "stress/rounds.hpp"

namespace shoal::sched {
namespace {

void wait_sometimes(std::uint64_t chance) {
  if (chance % 7 == 0) yield();
  if (chance % 31 == 0) {
    task_group inner;
    inner.run([] { yield(); });
    inner.wait();
  }
}

stage_mode mode_of(std::uint64_t chance) {
  constexpr stage_mode k_modes[] = {stage_mode::parallel, stage_mode::serial_in_order, stage_mode::serial_out_of_order};
  return k_modes[chance % 3];
}

void play_pipeline(std::uint64_t seed) {
  xoshiro256ss random(seed);
  const auto count = static_cast<int>(random.below(400));
  const int bad = random.below(3) == 0 ? static_cast<int>(random.below(500)) : -1;
  const std::size_t tokens = 1 + random.below(12);
  const auto live = std::make_shared<int>(0);
  using item = std::pair<int, std::shared_ptr<int>>;
  std::atomic<int> next{0};
  std::atomic<int> passed{0};
  std::atomic<int> inside[3] = {};
  const stage_mode modes[3] = {mode_of(random()), mode_of(random()), mode_of(random())};
  const auto enter = [&](unsigned at, int i) {
    const int now = ++inside[at];
    if (modes[at] != stage_mode::parallel) {
      EXPECT_EQ(now, 1);
    }
    wait_sometimes(mix64(seed + 3 * static_cast<unsigned>(i) + at));
    --inside[at];
  };
  const stage_mode source_mode = random.below(4) == 0 ? stage_mode::parallel : stage_mode::serial_in_order;
  const auto source = stage<void, item>(source_mode, [&]() -> std::optional<item> {
    const int i = next++;
    if (source_mode != stage_mode::parallel) wait_sometimes(mix64(seed ^ static_cast<unsigned>(i)));
    if (i >= count) return std::nullopt;
    return item(i, live);
  });
  const auto first = stage<item, item>(modes[0], [&](item i) {
    enter(0, i.first);
    if (i.first == bad) throw std::runtime_error("an item");
    return i;
  });
  int ordered = 0;
  const auto second = stage<item, item>(modes[1], [&](item i) {
    enter(1, i.first);
    if (modes[1] == stage_mode::serial_in_order && source_mode != stage_mode::parallel) {
      EXPECT_EQ(i.first, ordered++);
    }
    return i;
  });
  const auto last = stage<item, void>(modes[2], [&](const item& i) {
    enter(2, i.first);
    ++passed;
  });
  bool thrown = false;
  try {
    parallel_pipeline(tokens, source & first & second & last);
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  EXPECT_EQ(thrown, bad >= 0 && bad < count);
  if (!thrown) {
    EXPECT_EQ(passed, count);
  }
  EXPECT_EQ(live.use_count(), 1);
}

void play_for_each(std::uint64_t seed) {
  xoshiro256ss random(seed);
  std::list<std::uint64_t> list(random.below(300));
  std::iota(list.begin(), list.end(), 0);
  per_worker<std::uint64_t> sum;
  const auto add = [&](std::uint64_t n) { sum.with([n](std::uint64_t& mine) { mine += n; }); };
  parallel_for_each(list, [&](std::uint64_t i) {
    wait_sometimes(mix64(seed + i));
    add(1);
  });
  EXPECT_EQ(sum.combine(std::plus<>()), list.size());
  sum.clear();
  const std::vector<std::uint64_t> vector(list.begin(), list.end());
  const auto feeds = [&](std::uint64_t i, feeder<std::uint64_t>& more) {
    wait_sometimes(mix64(seed ^ i));
    add(1);
    for (std::uint64_t rest = i % 8; rest > 0; rest /= 2) more.add(rest / 2);
  };
  parallel_for_each(vector, feeds);
  const std::function<std::uint64_t(std::uint64_t)> calls = [&](std::uint64_t i) {
    std::uint64_t all = 1;
    for (std::uint64_t rest = i % 8; rest > 0; rest /= 2) all += calls(rest / 2);
    return all;
  };
  std::uint64_t wanted = 0;
  for (const std::uint64_t i : vector) wanted += calls(i);
  EXPECT_EQ(sum.combine(std::plus<>()), wanted);
  std::stop_source stop;
  std::atomic<int> begun{0};
  parallel_for_each(
      std::vector<int>{0, 1, 2},
      [&](int i, feeder<int>& more) {
        more.add(i + 1);
        more.add(i + 2);
        if (++begun == 50) stop.request_stop();
      },
      stop.get_token());
  EXPECT_GE(begun, 50);
}

void play_scan_and_sort(std::uint64_t seed) {
  xoshiro256ss random(seed);
  std::vector<std::uint64_t> numbers(random.below(20'000));
  for (auto& x : numbers) x = random() % 1000;
  auto wanted = numbers;
  std::partial_sum(wanted.begin(), wanted.end(), wanted.begin());
  auto got = numbers;
  parallel_inclusive_scan(got.begin(), got.end(), got.begin(), [seed](std::uint64_t a, std::uint64_t b) {
    if ((a ^ seed) % 1001 == 0) yield();
    return a + b;
  });
  EXPECT_EQ(got, wanted);
  std::vector<std::string> words;
  for (const auto x : numbers) words.push_back(std::to_string(x));
  parallel_stable_sort(words.begin(), words.end());
  EXPECT_TRUE(std::is_sorted(words.begin(), words.end()));
}

TEST(parallel, gives_what_is_known_beforehand) {
  stress::play_rounds([](std::uint64_t seed) {
    xoshiro256ss random(seed);
    pool_options options;
    options.workers = 1 + static_cast<unsigned>(random.below(6));
    pool p(options);
    p.run([seed] {
      parallel_for(
          0, 12,
          [seed](std::uint64_t i) {
            const std::uint64_t mine = splitmix64::at(seed, i);
            switch (i % 3) {
              case 0: return play_pipeline(mine);
              case 1: return play_for_each(mine);
              default: return play_scan_and_sort(mine);
            }
          },
          simple_partitioner{1});
    });
  });
}

}  // namespace
}  // namespace shoal::sched
