// SPDX-License-Identifier: Apache-2.0
// The meter against arbiters whose bias is known: simulated threads that wait, an arbiter that chooses among them with
// a given preference, and the factors worked out beside it.
#include "shoal/lock_meter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#include "locks/time_histogram.hpp"
#include "shoal/locks.hpp"
#include "shoal/random.hpp"

namespace shoal {
namespace {

double uniform(xoshiro256ss& random) { return static_cast<double>(random.below(1U << 30)) / (1U << 30); }

// All threads always wait: whoever had the lock asks again before the next one is chosen.
using arbiter = std::function<unsigned(unsigned last, xoshiro256ss&)>;
lock_report always_contended(const std::vector<unsigned>& packages, const arbiter& choose) {
  constexpr int k_acquisitions = 400'000;
  lock_meter meter(packages);
  xoshiro256ss random(7);
  std::uint64_t now = 1000;
  for (unsigned t = 0; t < meter.threads(); ++t) meter.asks(t, now);
  unsigned last = 0;
  for (int i = 0; i < k_acquisitions; ++i) {
    last = choose(last, random);
    meter.got(last, now += 10);
    meter.gives(last, now += 50);
    meter.asks(last, now);
  }
  return meter.report(now);
}

constexpr double k_close = 0.03;

TEST(lock_meter, a_fair_arbiter_has_no_bias) {
  const auto r =
      always_contended({0, 0, 1, 1}, [](unsigned, xoshiro256ss& random) { return unsigned(random.below(4)); });
  EXPECT_NEAR(r.bias_core, 1, k_close);
  EXPECT_NEAR(r.bias_package, 1, k_close);
  EXPECT_EQ(r.acquisitions, 400'000U);
  EXPECT_EQ(r.contended, 400'000U - 1);  // the first has no last owner
  EXPECT_EQ(r.handover_p50_ns, 10);
}

// Again with probability p, else one of the others of its package with q, else one of the other package.
TEST(lock_meter, known_preferences_come_out_as_factors) {
  struct preference {
    double again;
    double neighbour;
  };
  for (const auto& [again, neighbour] : {preference{0.5, 0.125}, {0.25, 0.375}, {0.0, 0.0}, {0.9, 0.1}}) {
    const std::vector<unsigned> packages{0, 1, 0, 1, 0, 1, 0, 1};
    const auto r = always_contended(packages, [&, a = again, n = neighbour](unsigned last, xoshiro256ss& random) {
      const double x = uniform(random);
      if (x < a) return last;
      if (x < a + n) return (last + 2 * (1 + unsigned(random.below(3)))) % 8;
      return (last + 1 + 2 * unsigned(random.below(4))) % 8;
    });
    EXPECT_NEAR(r.bias_core, again * 8, 8 * k_close / 4) << again;
    EXPECT_NEAR(r.bias_package, (again + neighbour) * 2, k_close) << again;
  }
}

TEST(lock_meter, strict_order_never_goes_back_at_once) {
  const auto r = always_contended({0, 1, 0, 1}, [](unsigned last, xoshiro256ss&) { return (last + 1) % 4; });
  EXPECT_EQ(r.bias_core, 0);
  EXPECT_EQ(r.bias_package, 0);
  EXPECT_LE(r.most_passed, 3U);
  const auto grouped = always_contended({0, 0, 1, 1}, [](unsigned last, xoshiro256ss&) { return (last + 1) % 4; });
  EXPECT_NEAR(grouped.bias_package, 1, k_close);
}

// The number of waiters varies: between two acquisitions each thread that does not wait asks with probability 0.3. A
// fair arbiter chooses among those who wait. The factors are worked out here from the same snapshots, by the
// definition.
TEST(lock_meter, varying_waiters_by_the_definition) {
  const std::vector<unsigned> packages{0, 0, 0, 1, 1, 2};
  const auto n = static_cast<unsigned>(packages.size());
  lock_meter meter(packages);
  xoshiro256ss random(11);
  std::vector<bool> waits(n, false);
  std::uint64_t now = 0;
  unsigned last = n;
  double same_core = 0, same_package = 0, fair_core = 0, fair_package = 0;
  std::uint64_t alone = 0, taken = 0;
  while (taken < 200'000) {
    for (unsigned t = 0; t < n; ++t)
      if (!waits[t] && uniform(random) < 0.3) {
        waits[t] = true;
        meter.asks(t, now);
      }
    std::vector<unsigned> candidates;
    for (unsigned t = 0; t < n; ++t)
      if (waits[t]) candidates.push_back(t);
    if (candidates.empty()) continue;
    const unsigned winner = candidates[random.below(candidates.size())];
    if (candidates.size() == 1) ++alone;
    if (last < n && candidates.size() > 1) {
      double near = 0;
      for (const unsigned c : candidates) near += packages[c] == packages[last] ? 1 : 0;
      same_core += winner == last ? 1 : 0;
      same_package += packages[winner] == packages[last] ? 1 : 0;
      fair_core += 1 / static_cast<double>(candidates.size());
      fair_package += near / static_cast<double>(candidates.size());
    }
    meter.got(winner, now += 5);
    meter.gives(winner, now += 5);
    waits[winner] = false;
    last = winner;
    ++taken;
  }
  const lock_report r = meter.report(now);
  EXPECT_GT(alone, 1000U);
  EXPECT_LE(r.contended + alone, taken);
  EXPECT_GE(r.contended + alone, taken - 1);
  EXPECT_NEAR(r.bias_core, same_core / fair_core, 1e-9);
  EXPECT_NEAR(r.bias_package, same_package / fair_package, 1e-9);
  EXPECT_NEAR(r.bias_package, 1, k_close);
}

TEST(lock_meter, without_waiters_there_is_no_factor) {
  lock_meter meter({0, 0});
  for (std::uint64_t i = 0; i < 10; ++i) {
    meter.asks(0, 10 * i);
    meter.got(0, 10 * i + 1);
    meter.gives(0, 10 * i + 2);
  }
  const lock_report r = meter.report(1000);
  EXPECT_EQ(r.acquisitions, 10U);
  EXPECT_EQ(r.contended, 0U);
  EXPECT_TRUE(std::isnan(r.bias_core));
  EXPECT_TRUE(std::isnan(r.bias_package));
  EXPECT_EQ(r.handover_p50_ns, 0);
  EXPECT_EQ(r.wait_max_ns, 1);
  EXPECT_EQ(r.by_thread, (std::vector<std::uint64_t>{10, 0}));
}

TEST(lock_meter, who_never_gets_it_starves) {
  lock_meter meter({0, 0});
  meter.asks(1, 100);
  for (std::uint64_t i = 0; i < 50; ++i) {
    meter.asks(0, 100 + 10 * i);
    meter.got(0, 105 + 10 * i);
    meter.gives(0, 109 + 10 * i);
  }
  const lock_report r = meter.report(5100);
  EXPECT_EQ(r.longest_starvation_ns, 5000);
  EXPECT_EQ(r.wait_max_ns, 5);
  EXPECT_EQ(r.most_passed, 50U);
  EXPECT_EQ(r.bias_core, 2);
}

// Somebody waits, on another thread, for a lock that its holder does not give back.
TEST(lock_meter, a_wait_that_goes_on_is_in_the_report) {
  ticket_lock<> lock;
  lock_meter meter({0, 0});
  measured_lock measured(lock, meter);
  lock.lock();
  std::thread waiter([&] {
    measured.lock(1);
    measured.unlock(1);
  });
  while (meter.report().longest_starvation_ns < 1e6) std::this_thread::yield();
  EXPECT_EQ(meter.report().acquisitions, 0U);
  lock.unlock();
  waiter.join();
  const lock_report r = meter.report();
  EXPECT_EQ(r.acquisitions, 1U);
  EXPECT_GE(r.wait_max_ns, 1e6);
}

TEST(lock_meter, of_threads_and_a_lock) {
  ticket_lock<> lock;
  lock_meter meter({0, 1, 0, 1});
  measured_lock measured(lock, meter);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        measured.lock(t);
        measured.unlock(t);
      }
    });
  for (std::thread& t : threads) t.join();
  const lock_report r = meter.report();
  EXPECT_EQ(r.acquisitions, 8000U);
  EXPECT_EQ(r.by_thread, std::vector<std::uint64_t>(4, 2000));
  EXPECT_LE(r.wait_p50_ns, r.wait_p99_ns);
  EXPECT_LE(r.wait_p99_ns, r.wait_max_ns);
}

TEST(time_histogram, percentiles_within_three_in_a_hundred) {
  locks::time_histogram h;
  EXPECT_EQ(h.percentile(0.5), 0);
  for (std::uint64_t ns = 1; ns <= 100'000; ++ns) h.add(ns);
  EXPECT_NEAR(h.percentile(0.5), 50'000, 1500);
  EXPECT_NEAR(h.percentile(0.99), 99'000, 3000);
  EXPECT_EQ(h.percentile(1), 100'000);
  EXPECT_EQ(h.max(), 100'000U);
  locks::time_histogram large;
  large.add(~std::uint64_t{0});
  large.add(h);
  EXPECT_EQ(large.count(), 100'001U);
  EXPECT_EQ(large.max(), ~std::uint64_t{0});
}

}  // namespace
}  // namespace shoal
