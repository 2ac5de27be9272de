// SPDX-License-Identifier: Apache-2.0
// Profiles of loads of which the amounts are known: counts are exact, times add up, and each is where it belongs.
#include "shoal/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <ctime>
#include <functional>
#include <limits>
#include <optional>
#include <thread>

#include "base/clock.hpp"
#include "sched/pool.hpp"
#include "sched/profiler.hpp"
#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

using namespace std::chrono_literals;

// Computes for so long; the time of the clock that it took.
std::uint64_t compute_ns(std::uint64_t ns) {
  const std::uint64_t start = base::now_ns();
  std::uint64_t now = start;
  while ((now = base::now_ns()) - start < ns) {
  }
  return now - start;
}

// What the threads of this process have used of processors.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

profile profiled(unsigned workers, const std::function<void()>& body, const profile_options& options = {},
                 pool_hooks* above = nullptr) {
  std::optional<profile> got;
  run_pool(
      workers,
      [&] {
        profile_span span = begin_profile(options);
        body();
        got = span.end();
      },
      above);
  return *got;
}

void expect_sums(const profile& p) {
  for (const profile_worker& w : p.workers) EXPECT_NEAR(w.seconds(), p.wall_seconds, 1e-5 + 1e-4 * p.wall_seconds);
}

TEST(profile, counts_of_one_worker_are_exact) {
  const profile p = profiled(1, [] {
    for (int round = 0; round < 100; ++round) {
      task_group group;
      for (int i = 0; i < 10; ++i) group.run([] {});
      group.wait();  // runs all of them itself
    }
    task_group group;
    for (int i = 0; i < 30; ++i) group.run([] {});
    for (int i = 0; i < 5; ++i) yield();  // the loop begins some
    group.wait();
  });
  const profile_worker total = p.total();
  EXPECT_EQ(total.spawn.count, 1030U);
  EXPECT_GE(total.begun, 1U);
  EXPECT_LE(total.begun, 30U);
  EXPECT_EQ(total.get.count, total.begun);
  EXPECT_GE(total.left, 5U);
  EXPECT_EQ(total.resume.count, total.left);
  EXPECT_EQ(total.steal.count, 0U);
  EXPECT_EQ(total.park.count, 0U);
  EXPECT_EQ(total.ring.count, 0U);
  expect_sums(p);
}

TEST(profile, work_is_the_time_of_the_bodies) {
  constexpr std::uint64_t k_task_ns = 20'000;
  constexpr int k_tasks = 500;
  for (const unsigned workers : {1U, 2U, 3U}) {
    std::atomic<std::uint64_t> computed_ns{0};
    const double processor_before = processor_seconds();
    const profile p = profiled(workers, [&] {
      task_group group;
      for (int i = 0; i < k_tasks; ++i) group.run([&] { computed_ns += compute_ns(k_task_ns); });
      group.wait();
    });
    // Time in which threads slept or other programs had the processor, also in the middle of a join.
    const double not_running = std::max(0.0, p.wall_seconds * workers - (processor_seconds() - processor_before));
    expect_sums(p);
    const profile_worker total = p.total();
    const double computed = static_cast<double>(computed_ns.load()) * 1e-9;
    EXPECT_GE(computed, 0.95 * k_task_ns * k_tasks * 1e-9);
    // Besides the bodies there are only joins and the making of tasks. A thread that is interrupted in a short
    // operation moves time to either side: it counts as work, or, if that operation is one of the few timed, for all of
    // its kind.
    EXPECT_GE(total.work_seconds, 0.93 * computed - 0.01) << profile_table(p);
    EXPECT_LE(total.work_seconds, 1.15 * computed + 0.05 + not_running) << profile_table(p);
    EXPECT_LE(computed, p.wall_seconds * workers);
    EXPECT_EQ(total.spawn.count, static_cast<std::uint64_t>(k_tasks));
    EXPECT_LE(total.begun, static_cast<std::uint64_t>(k_tasks));
    EXPECT_NEAR(total.idle_seconds() + total.scheduling_seconds(), p.wall_seconds * workers - total.work_seconds, 1e-3);
  }
}

TEST(profile, tasks_begun_by_others_are_work_too_and_the_rest_is_idle) {
  // Worker 0 sleeps (as work), the other computes for half of that time and has nothing to do for the rest.
  constexpr auto k_span = 200ms;
  std::atomic<std::uint64_t> computed_ns{0};
  const profile p = profiled(2, [&] {
    task_group group;
    group.run([&] { computed_ns = compute_ns(100'000'000); });
    std::this_thread::sleep_for(k_span);
    group.wait();
  });
  expect_sums(p);
  const double computed = static_cast<double>(computed_ns.load()) * 1e-9;
  const profile_worker& first = p.workers[0];
  const profile_worker& second = p.workers[1];
  EXPECT_EQ(second.steal.count, 1U) << profile_table(p);
  EXPECT_NEAR(second.work_seconds, computed, 0.02 + 0.1 * computed) << profile_table(p);
  EXPECT_NEAR(second.idle_seconds(), p.wall_seconds - computed, 0.02 + 0.1 * p.wall_seconds) << profile_table(p);
  EXPECT_GE(first.work_seconds, 0.19);
  EXPECT_GE(second.park.count, 1U);
  EXPECT_GT(second.park.seconds, 0.0);
  EXPECT_EQ(p.total().begun, 1U);
}

TEST(profile, a_wait_is_not_work) {
  const profile p = profiled(1, [] {
    detail::suspended* const me = detail::this_task();
    std::thread other([me] {
      std::this_thread::sleep_for(100ms);
      detail::wake(me);
    });
    detail::leave();
    other.join();
  });
  expect_sums(p);
  EXPECT_EQ(p.total().left, 1U);
  EXPECT_GE(p.total().idle_seconds(), 0.09) << profile_table(p);
  EXPECT_LE(p.total().work_seconds, p.wall_seconds - 0.09) << profile_table(p);
  EXPECT_GE(p.total().park.count, 1U);
}

TEST(profile, attempts_are_counted_by_result_and_distance) {
  pool_options options;
  options.workers = 2;
  options.where = machine::topology::synthetic("package:2 core:1").choose(1, 0, 2).where;
  pool p(options);
  std::optional<profile> got;
  p.run([&] {
    profile_span span = begin_profile();
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> ran{false};
      task_group group;
      group.run([&ran] { ran.store(true); });
      while (!ran.load()) std::this_thread::yield();  // this worker does not run it
      group.wait();
    }
    got = span.end();
  });
  const profile_worker total = got->total();
  EXPECT_EQ(total.steal.count, 20U);
  EXPECT_EQ(total.begun, 20U);
  EXPECT_EQ(total.attempts[static_cast<std::size_t>(worker_distance::machine)].won, 20U);
  EXPECT_GT(total.attempts[static_cast<std::size_t>(worker_distance::machine)].empty, 0U);
  for (const auto d : {worker_distance::core, worker_distance::l2, worker_distance::l3, worker_distance::package})
    EXPECT_EQ(total.attempts[static_cast<std::size_t>(d)].won + total.attempts[static_cast<std::size_t>(d)].empty, 0U);
  expect_sums(*got);
}

TEST(profile, rings_given_are_sleeps_that_ended) {
  std::optional<profile> got;
  run_pool(2, [&] {
    std::this_thread::sleep_for(50ms);  // worker 1 parks
    profile_span span = begin_profile();
    for (int round = 0; round < 10; ++round) {
      std::atomic<bool> ran{false};
      task_group group;
      group.run([&ran] { ran.store(true); });
      while (!ran.load()) std::this_thread::yield();
      group.wait();
      std::this_thread::sleep_for(10ms);
    }
    got = span.end();
  });
  const profile_worker total = got->total();
  EXPECT_GE(total.ring.count, 1U);
  EXPECT_LE(total.ring.count, 10U);
  EXPECT_LE(got->workers[1].park.count, total.ring.count + 1);
  // How much of it asleep is up to whoever else wants the processors: looking around takes longer then.
  EXPECT_GE(got->workers[1].idle_seconds(), 0.5 * got->wall_seconds) << profile_table(*got);
  EXPECT_GT(got->workers[1].park.seconds, 0.0) << profile_table(*got);
  EXPECT_EQ(got->workers[0].park.count, 0U);
  expect_sums(*got);
}

// Something to serve at each tenth look, which takes 50 microseconds.
struct busy_hooks final : pool_hooks {
  std::atomic<int> looks{0};
  std::atomic<std::uint64_t> served_ns{0};
  bool poll(worker&) noexcept override {
    if (++looks % 10 != 0) return false;
    served_ns += compute_ns(50'000);
    return true;
  }
};

TEST(profile, serving_messages_is_scheduling) {
  busy_hooks above;
  int looks = 0;
  std::uint64_t served_ns = 0;
  std::uint64_t computed_ns = 0;
  std::optional<profile> got;
  run_pool(
      1,
      [&] {
        const int first = above.looks.load();
        const std::uint64_t before_ns = above.served_ns.load();
        profile_span span = begin_profile();
        for (int i = 0; i < 20'000; ++i) {
          poll();
          computed_ns += compute_ns(1000);
        }
        served_ns = above.served_ns.load() - before_ns;
        looks = above.looks.load() - first;
        got = span.end();
      },
      &above);
  const profile_worker total = got->total();
  EXPECT_EQ(total.messages.count, static_cast<std::uint64_t>(looks));
  EXPECT_NEAR(static_cast<double>(total.served), looks / 10.0, 1);
  const double served = static_cast<double>(served_ns) * 1e-9;
  const double computed = static_cast<double>(computed_ns) * 1e-9;
  EXPECT_GE(served, 0.05);
  EXPECT_GE(total.messages.seconds, 0.98 * served) << profile_table(*got);
  EXPECT_LE(total.messages.seconds, 1.1 * served + 0.05) << profile_table(*got);
  EXPECT_GE(total.work_seconds, 0.9 * computed - 0.02) << profile_table(*got);
  expect_sums(*got);
}

TEST(profile, spans_may_overlap_and_follow_each_other) {
  run_pool(2, [] {
    const auto load = [](int tasks) {
      task_group group;
      for (int i = 0; i < tasks; ++i) group.run([] {});
      group.wait();
    };
    profile_span outer = begin_profile();
    load(10);
    {
      profile_span dropped = begin_profile();
      load(100);
    }
    profile_span inner = begin_profile();
    load(1000);
    const profile in = inner.end();
    load(5);
    const profile out = outer.end();
    load(7);  // nobody counts these
    std::this_thread::sleep_for(5ms);
    profile_span later = begin_profile();
    load(20);
    const profile late = later.end();
    EXPECT_EQ(in.total().spawn.count, 1000U);
    EXPECT_EQ(out.total().spawn.count, 1115U);
    EXPECT_EQ(late.total().spawn.count, 20U);
    for (const profile& p : {in, out, late}) expect_sums(p);
    EXPECT_LE(in.wall_seconds, out.wall_seconds);
  });
}

TEST(profile, what_runs_is_sampled_in_bounded_memory) {
  profile_options options;
  options.interval_seconds = 0.001;
  options.most_samples = 16;
  const profile p = profiled(
      2, [] { compute_ns(60'000'000); }, options);
  EXPECT_LE(p.running.size(), 16U);
  EXPECT_GE(p.running.size(), 2U);
  EXPECT_EQ(p.running.size(), p.offered.size());
  EXPECT_GE(p.interval_seconds, 0.004 * 0.99);
  EXPECT_LE(p.interval_seconds * static_cast<double>(p.running.size()), p.wall_seconds * 1.01);
  for (const std::uint32_t n : p.running) {
    EXPECT_GE(n, 1U);  // the main task never stops
    EXPECT_LE(n, 2U);
  }
  options.interval_seconds = 0;
  EXPECT_TRUE(profiled(
                  1, [] {}, options)
                  .running.empty());
}

// Threads of the system, but what runs beside them gets no processor.
class without_background final : public machine::executor {
public:
  std::uint64_t now_ns() noexcept override { return by_.now_ns(); }
  bool has_real_clock() noexcept override { return by_.has_real_clock(); }
  machine::futex_result wait(std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns,
                             bool shared) noexcept override {
    return by_.wait(word, expected, timeout_ns, shared);
  }
  int wake(std::atomic<std::uint32_t>& word, int count, bool shared) noexcept override {
    return by_.wake(word, count, shared);
  }
  int wait_any(std::span<const int> descriptors, std::int64_t timeout_ns) override {
    return by_.wait_any(descriptors, timeout_ns);
  }
  void yield() noexcept override { by_.yield(); }
  unsigned processors() noexcept override { return by_.processors(); }
  std::unique_ptr<thread> start_thread(std::string name, std::function<void()> body) override {
    return by_.start_thread(std::move(name), std::move(body));
  }
  std::unique_ptr<machine::activity_runner> make_runner(std::string, machine::activity&) override {
    struct idle final : machine::activity_runner {
      void start() override {}
      void notify() noexcept override {}
      void stop() noexcept override {}
    };
    return std::make_unique<idle>();
  }

private:
  machine::executor& by_ = machine::threads();
};

TEST(profile, samples_cover_the_span_also_if_the_sampler_gets_no_processor) {
  without_background by;
  pool_options of_pool;
  of_pool.workers = 1;
  of_pool.executor = &by;
  profile_options options;
  options.interval_seconds = 0.001;
  std::optional<profile> got;
  pool p(of_pool);
  p.run([&] {
    profile_span span = begin_profile(options);
    compute_ns(20'000'000);
    got = span.end();
  });
  EXPECT_GE(got->running.size(), 20U);
  EXPECT_EQ(got->running.size(), got->offered.size());
  EXPECT_LE(got->interval_seconds * static_cast<double>(got->running.size()), got->wall_seconds * 1.01);
  for (const std::uint32_t n : got->running) EXPECT_EQ(n, 1U);
}

TEST(profile, a_worker_that_moved_on_while_it_was_read_adds_up) {
  pool_reading from;
  pool_reading to;
  from.workers.resize(1);
  to.workers.resize(1);
  to.ticks = 1000;
  auto& ticks = to.workers[0].ticks;
  ticks[static_cast<std::size_t>(profile_state::busy)] = 900;
  ticks[static_cast<std::size_t>(profile_state::spin)] = 120;
  ticks[static_cast<std::size_t>(profile_state::look)] = -20;
  const profile p = profile_between(from, to, 1000);
  EXPECT_DOUBLE_EQ(p.wall_seconds, 1);
  EXPECT_DOUBLE_EQ(p.workers[0].seconds(), 1);
  EXPECT_DOUBLE_EQ(p.workers[0].work_seconds, 0.88);
  EXPECT_DOUBLE_EQ(p.workers[0].look.seconds, 0);
}

TEST(profile, times_of_what_was_timed_stand_for_all) {
  pool_reading from;
  pool_reading to;
  from.workers.resize(2);
  to.workers.resize(2);
  to.ticks = 1000;
  constexpr auto k_spawn = static_cast<std::size_t>(profile_operation::spawn);
  constexpr auto k_ring = static_cast<std::size_t>(profile_operation::ring);
  for (recorder_reading& w : to.workers) w.ticks[static_cast<std::size_t>(profile_state::busy)] = 1000;
  recorder_reading& first = to.workers[0];
  first.count[k_spawn] = 100;
  first.timed[k_spawn] = 20;
  first.sum[k_spawn] = 40;   // 2 each
  first.once[k_spawn] = 50;  // one that was interrupted
  first.count[k_ring] = 3;
  first.once[k_ring] = 30;
  to.workers[1].count[k_spawn] = 10;  // too few to be timed: as the others
  const profile p = profile_between(from, to, 1000);
  EXPECT_DOUBLE_EQ(p.workers[0].spawn.seconds, 0.25);
  EXPECT_DOUBLE_EQ(p.workers[0].ring.seconds, 0.03);
  EXPECT_DOUBLE_EQ(p.workers[0].work_seconds, 0.72);
  EXPECT_DOUBLE_EQ(p.workers[1].spawn.seconds, 0.02);
  EXPECT_DOUBLE_EQ(p.workers[1].work_seconds, 0.98);
  first.sum[k_spawn] = 4000;  // more than there is
  const profile scaled = profile_between(from, to, 1000);
  EXPECT_DOUBLE_EQ(scaled.workers[0].work_seconds, 0);
  EXPECT_NEAR(scaled.workers[0].seconds(), 1, 1e-12);
}

TEST(profile, an_irregular_load_adds_up) {
  struct tree {
    static void grow(unsigned depth, std::atomic<std::uint64_t>& spawned) {
      if (depth == 0) return;
      task_group group;
      for (unsigned i = 0; i < 3; ++i) {
        ++spawned;
        group.run([depth, i, &spawned] {
          if (i == 1) yield();
          grow(depth - 1, spawned);
        });
      }
      group.wait();
    }
  };
  for (int round = 0; round < 5; ++round) {
    std::atomic<std::uint64_t> spawned{0};
    const profile p = profiled(4, [&] { tree::grow(8, spawned); });
    EXPECT_EQ(p.total().spawn.count, spawned.load());
    EXPECT_LE(p.total().begun, spawned.load());
    EXPECT_EQ(p.total().steal.count, [&] {
      std::uint64_t won = 0;
      for (const auto& a : p.total().attempts) won += a.won;
      return won;
    }());
    expect_sums(p);
  }
}

TEST(profile, a_serial_time_that_is_none_is_refused) {
  run_pool(1, [] {
    for (const double wrong : {0.0, -5.0, std::numeric_limits<double>::infinity(), std::nan("")})
      EXPECT_THROW(begin_profile({.serial_seconds = wrong}), error) << wrong;
    auto span = begin_profile({.serial_seconds = 2.0});
    EXPECT_EQ(span.end().serial_seconds, 2.0);
  });
}

}  // namespace
}  // namespace shoal::sched
