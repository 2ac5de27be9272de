// SPDX-License-Identifier: Apache-2.0
#include "sched/pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "machine/membarrier.hpp"
#include "machine/reserved_range.hpp"
#include "shoal/error.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/machine/in_child.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

TEST(pool, runs_the_main_task_on_the_calling_thread) {
  for (const unsigned workers : {1U, 3U}) {
    const auto here = std::this_thread::get_id();
    bool same = false;
    run_pool(workers, [&] {
      same = std::this_thread::get_id() == here;
      yield();
      same = same && std::this_thread::get_id() == here;
    });
    EXPECT_TRUE(same);
    EXPECT_EQ(detail::t_worker, nullptr);
  }
}

// What a search for a cycle reads as a holder may be a task's number or what another pool has left.
TEST(pool, names_of_threads_are_distinct_in_the_letters_that_the_kernel_keeps) {
  EXPECT_EQ(pool::thread_name(-1, 3), "shoal-w3");
  EXPECT_EQ(pool::thread_name(1023, 63), "shoal-1023-w63");
  EXPECT_EQ(pool::thread_name(1023, 127), "shoal-1023-w127");
  EXPECT_EQ(pool::thread_name(1023, 1000), "1023-w1000");
  EXPECT_EQ(pool::thread_name(1'048'575, 2047), "1048575-w2047");  // as many as there may be
}

TEST(pool, owns_the_notes_of_its_stacks_and_no_other_address) {
  run_pool(1, [] {
    const pool& mine = this_worker()->owner();
    constexpr int k_tasks = 40;  // the tops of stacks are staggered by up to 16 lines
    std::vector<const void*> stacks(k_tasks + 1, detail::this_task_name().stack);  // of this task: the worker's own
    std::atomic<int> waiting{0};
    semaphore go(0);
    task_group group;
    for (int i = 0; i < k_tasks; ++i)
      group.run([&, i] {
        ++waiting;
        go.acquire();
        stacks[static_cast<std::size_t>(i)] = detail::this_task_name().stack;
      });
    while (waiting < k_tasks) yield();
    go.release(k_tasks);
    group.wait();
    EXPECT_GE(std::set(stacks.begin(), stacks.end()).size(), std::size_t{k_tasks});
    for (const void* stack : stacks) {
      EXPECT_TRUE(mine.owns(stack));
      EXPECT_FALSE(mine.owns(static_cast<const std::byte*>(stack) + 1));
      EXPECT_FALSE(mine.owns(static_cast<const std::byte*>(stack) - 64));
    }
    EXPECT_FALSE(mine.owns(reinterpret_cast<const void*>(std::uintptr_t{113})));
    EXPECT_FALSE(mine.owns(&stacks));
  });
}

TEST(pool, starts_and_stops_many_times) {
  std::atomic<int> ran{0};
  for (int i = 0; i < 50; ++i)
    run_pool(4, [&ran] {
      task_group group;
      for (int k = 0; k < 8; ++k) group.run([&ran] { ran.fetch_add(1); });
      group.wait();
    });
  EXPECT_EQ(ran.load(), 400);
}

TEST(pool, several_live_in_one_process) {
  std::vector<std::thread> hosts;
  std::atomic<int> right{0};
  for (int i = 0; i < 3; ++i)
    hosts.emplace_back([i, &right] {
      run_pool(2, [i, &right] {
        task_group group;
        std::atomic<int> sum{0};
        for (int k = 0; k < 1000; ++k) group.run([&sum, i] { yield(), sum.fetch_add(i); });
        group.wait();
        if (sum.load() == 1000 * i) right.fetch_add(1);
      });
    });
  for (auto& h : hosts) h.join();
  EXPECT_EQ(right.load(), 3);
}

// Whether sleepers execute the fences for those who publish, and how often idle workers look before they park.
class sleeping_pool : public testing::TestWithParam<std::tuple<bool, unsigned>> {};
INSTANTIATE_TEST_SUITE_P(fences_and_looks, sleeping_pool, testing::Combine(testing::Bool(), testing::Values(0U, 40U)));

TEST_P(sleeping_pool, two_long_tasks_take_two_sleeping_workers) {
  pool_options options;
  options.workers = 3;
  std::tie(options.heavy_fences, options.spin_rounds) = GetParam();
  pool p(options);
  EXPECT_EQ(p.heavy_fences(), options.heavy_fences && machine::can_fence_all());
  p.run([] {
    for (int round = 0; round < 20; ++round) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));  // the others park
      // Each waits for the other without giving its worker up: ends only if two sleepers were woken.
      std::atomic<int> here{0};
      std::atomic<bool> late{false};
      task_group group;
      for (int i = 0; i < 2; ++i)
        group.run([&] {
          here.fetch_add(1);
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (here.load() < 2 && !late.load()) {
            std::this_thread::yield();
            if (std::chrono::steady_clock::now() > end) late.store(true);
          }
        });
      // The main task computes: nobody but the sleepers can run them.
      while (here.load() < 2 && !late.load()) std::this_thread::yield();
      EXPECT_FALSE(late.load()) << "a second sleeping worker was not woken";
      group.wait();
      if (late.load()) return;
    }
  });
}

// More tasks wait than there are stacks: what has not begun must wait until one goes on, and the pool says so.
TEST(pool, with_too_few_stacks_warns_and_completes) {
  pool_options options;
  options.workers = 1;
  options.most_stacks = 64;
  pool p(options);
  constexpr int k_tasks = 200;
  std::atomic<int> waiting{0};
  std::atomic<int> ended{0};
  testing::internal::CaptureStderr();
  p.run([&] {
    // Woken by a thread that is no worker, one by one.
    std::atomic<bool> all_ended{false};
    std::vector<std::atomic<detail::suspended*>> waiters(k_tasks);
    std::thread waker([&] {
      for (int before = -1; !all_ended.load();) {
        // Only once nothing more begins: then the stacks are used up.
        if (const int now = waiting.load(); now != before) {
          before = now;
          std::this_thread::sleep_for(std::chrono::milliseconds(30));
          continue;
        }
        for (auto& w : waiters)
          if (detail::suspended* s = w.exchange(nullptr); s != nullptr) detail::wake(s);
      }
    });
    task_group group;
    for (auto& w : waiters)
      group.run([&w, &waiting, &ended] {
        waiting.fetch_add(1);
        w.store(detail::this_task());
        detail::leave();
        ended.fetch_add(1);
      });
    group.wait();
    all_ended.store(true);
    waker.join();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(waiting.load(), k_tasks);
  EXPECT_EQ(ended.load(), k_tasks);
  EXPECT_NE(said.find("no stack left"), std::string::npos) << said;
  EXPECT_NE(said.find("SHOAL_STACKS"), std::string::npos) << said;
  EXPECT_EQ(said.find("no stack left"), said.rfind("no stack left")) << "once is enough";
}

struct waking_errand final : errand {
  detail::suspended* waiter = nullptr;
  std::atomic<bool>* ran = nullptr;
};

// The same, with nothing but errands to do: they run, and the worker sleeps until then.
TEST(pool, with_too_few_stacks_sleeps_and_runs_errands) {
  pool_options options;
  options.workers = 1;
  options.most_stacks = 64;
  pool p(options);
  constexpr int k_tasks = 100;
  testing::internal::CaptureStderr();
  std::atomic<bool> ran{false};
  double used_s = 1;
  p.run([&] {
    std::vector<std::atomic<detail::suspended*>> waiters(k_tasks);
    std::atomic<int> waiting{0};
    std::thread outside([&] {
      const auto used = [] {
        timespec t{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
      };
      for (int before = -1; before != waiting.load();) {
        before = waiting.load();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      const double before_s = used();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      used_s = used() - before_s;
      waking_errand e;
      e.run = [](detail::task& t) noexcept {
        auto& self = static_cast<waking_errand&>(static_cast<errand&>(t));
        auto* const told = self.ran;
        detail::wake(self.waiter);
        told->store(true);  // the last: the errand goes
      };
      e.waiter = waiters[0].exchange(nullptr);
      e.ran = &ran;
      p.at(0).give_errand(e);
      while (!ran.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      for (int woken = 1; woken < k_tasks;) {
        for (auto& w : waiters)
          if (detail::suspended* s = w.exchange(nullptr); s != nullptr) detail::wake(s), ++woken;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    });
    task_group group;
    // Last in, first out: the first of them is the one that is certainly waiting when the stacks are used up.
    for (int i = k_tasks; i-- > 0;)
      group.run([&, i] {
        waiters[static_cast<std::size_t>(i)].store(detail::this_task());
        waiting.fetch_add(1);
        detail::leave();
      });
    group.wait();
    outside.join();
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no stack left"), std::string::npos) << said;
  EXPECT_TRUE(ran.load());
  EXPECT_LT(used_s, 0.1);  // a worker that spins would use three times that
}

TEST(pool, a_system_that_refuses_memory_is_an_error_and_no_end) {
#if SHOAL_TSAN || SHOAL_ASAN
  GTEST_SKIP() << "sanitizers need more data than a limit would leave";
#endif
  if (!machine::keeps_memory_limits()) GTEST_SKIP() << "this system (an emulator) keeps no limit of memory";
  const int status = machine::in_child([] {
    std::vector<char> room(1 << 20, 'x');  // so that the heap has some when the limit is there
    room.clear();
    room.shrink_to_fit();
    const rlimit none{4096, 4096};
    if (::setrlimit(RLIMIT_DATA, &none) != 0) return 1;
    try {
      run_pool(1, [] {});
    } catch (const error& refused) {
      return std::string(refused.what()).find("signal handlers") != std::string::npos ? 0 : 2;
    }
    return 3;
  });
  EXPECT_TRUE(machine::exited_with(status, 0)) << status;
}

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(pool_death_test, run_from_a_task_is_stopped_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(run_pool(1, [] { run_pool(1, [] {}); }), "shoal::run is called from a task");
}

// Uses up a stack nearly, and waits there.
[[gnu::noinline]] int wait_deep(std::size_t bytes) {
  volatile char frame[1024];
  frame[0] = 1;
  asm volatile("" : : "r"(frame) : "memory");  // compilers leave out what nobody uses
  if (bytes > sizeof frame) return wait_deep(bytes - sizeof frame) + frame[0];
  yield();
  return frame[0];
}

void overflow_without_guards() {
  pool_options options;
  options.workers = 1;
  options.stack_bytes = 16 << 10;
  options.guards = fiber::guard_kind::none;
  pool p(options);
  p.run([] {
    task_group group;
    std::atomic<bool> end{false};
    group.run([&end] {
      wait_deep(20 << 10);
      end.store(true);
    });
    while (!end.load()) yield();  // it begins on a stack of the pool
    group.wait();
  });
}

TEST(pool_death_test, an_overflow_is_noticed_at_a_wait_where_there_are_no_guards) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(overflow_without_guards(),
               "the task .*0x[0-9a-f]+ .*has used up its stack of [0-9]+ bytes .worker 0, stack ");
}
#endif

struct counted_errand final : errand {
  std::atomic<std::size_t>* done = nullptr;
};

// A number of kilobytes from /proc/self/status.
std::size_t status_bytes(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;)
    if (std::size_t kibibytes = 0; word == name && in >> kibibytes) return kibibytes << 10;
  return 0;
}

std::size_t mappings_now() {
  std::ifstream in("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(in, line);) ++count;
  return count;
}

// Address space for stacks is reserved when it is needed, and there are few mappings for each pool.
TEST(pool, thousands_of_one_worker_live_at_once) {
#if SHOAL_TSAN || SHOAL_ASAN
  constexpr std::size_t k_pools = 100;
#else
  constexpr std::size_t k_pools = 2000;
#endif
  pool_options options;  // as many stacks as the memory holds
  std::atomic<std::size_t> done{0};
  std::vector<counted_errand> tasks(k_pools);
  std::vector<std::unique_ptr<pool>> pools;
  [[maybe_unused]] const std::size_t space_before = status_bytes("VmSize:");
  [[maybe_unused]] const std::size_t memory_before = status_bytes("VmRSS:");
  [[maybe_unused]] const std::size_t mappings_before = mappings_now();
  for (counted_errand& t : tasks) {
    t.done = &done;
    t.run = [](detail::task& raw) noexcept {
      std::atomic<bool> child{false};
      task_group group;
      group.run([&child] { child = true; });
      while (!child.load()) yield();  // the child has a stack of the pool
      group.wait();
      static_cast<counted_errand&>(static_cast<errand&>(raw)).done->fetch_add(1);
    };
    pools.push_back(std::make_unique<pool>(options));
    EXPECT_GT(pools.back()->stacks().capacity(), 1000U);
    pools.back()->start();
    pools.back()->submit(t);
  }
  while (done.load() < k_pools) std::this_thread::yield();
#if !SHOAL_TSAN && !SHOAL_ASAN
  EXPECT_LT(status_bytes("VmSize:") - space_before, k_pools * (std::size_t{100} << 20));
  if (machine::follows_advice()) {  // else an emulator's own memory counts, too
    EXPECT_LT(status_bytes("VmRSS:") - memory_before, k_pools * (std::size_t{512} << 10));
  }
  EXPECT_LT(mappings_now() - mappings_before, k_pools * 12);
#endif
  for (auto& p : pools) p->finish();
}

}  // namespace
}  // namespace shoal::sched
