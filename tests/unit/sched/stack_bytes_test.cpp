// SPDX-License-Identifier: Apache-2.0
#include "shoal/stack_bytes.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sched/pool.hpp"
#include "sched/stack_overflow.hpp"
#include "shoal/error.hpp"
#include "shoal/future.hpp"
#include "shoal/loop.hpp"
#include "shoal/sync.hpp"
#include "shoal/task.hpp"
#include "unit/machine/in_child.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

constexpr stack_bytes k_one_mebibyte{std::size_t{1} << 20};

// Uses some 200 bytes per level and more under sanitizers; each level writes its own frame.
[[gnu::noinline]] std::uint64_t descend(unsigned levels) {
  std::array<volatile unsigned char, 100> frame;
  frame[0] = static_cast<unsigned char>(levels);
  frame[99] = 1;
  if (levels == 0) return 0;
  return descend(levels - 1) + frame[99] + (frame[0] == static_cast<unsigned char>(levels) ? 0 : 1000);
}
// At least 500 KiB, and less than 1 MiB, with what sanitizers add to a frame, too.
#if SHOAL_ASAN || SHOAL_TSAN
constexpr unsigned k_levels = 2000;
#else
constexpr unsigned k_levels = 3500;
#endif

class workers : public testing::TestWithParam<unsigned> {
protected:
  static void run(const std::function<void()>& body) { run_pool(GetParam(), body); }
};
INSTANTIATE_TEST_SUITE_P(of, workers, testing::Values(1U, 2U, 4U));

TEST_P(workers, a_task_that_asks_for_a_stack_has_it_whoever_runs_it) {
  run([] {
    // As inline children, on the stack of the main task and below one another.
    std::atomic<std::uint64_t> sum{0};
    for (int round = 0; round < 50; ++round) {
      task_group group;
      for (int i = 0; i < 20; ++i)
        group.run(k_one_mebibyte, [&sum] {
          task_group inner;
          inner.run(k_one_mebibyte, [&sum] { sum += descend(k_levels); });
          sum += descend(k_levels);
          inner.wait();
        });
      group.wait();
    }
    EXPECT_EQ(sum.load(), 50U * 20 * 2 * k_levels);
    // From the loops of workers, while the main task waits.
    std::atomic<int> ended{0};
    task_group group;
    for (int i = 0; i < 20; ++i)
      group.run(priority::high, k_one_mebibyte, [&] {
        sum += descend(k_levels);
        ended.fetch_add(1);
      });
    while (ended.load() < 20) yield();
    group.wait();
    EXPECT_EQ(sum.load(), (50U * 20 * 2 + 20) * k_levels);
  });
}

TEST_P(workers, groups_futures_and_loops_ask_as_well) {
  run([] {
    std::atomic<std::uint64_t> sum{0};
    sized_task_group group(k_one_mebibyte);
    for (int i = 0; i < 10; ++i) group.run([&sum] { sum += descend(k_levels); });
    group.wait();
    EXPECT_EQ(sum.load(), 10U * k_levels);
    EXPECT_EQ(async(k_one_mebibyte, [] { return descend(k_levels); }).get(), k_levels);
    EXPECT_EQ(async("deep", k_one_mebibyte, [] { return descend(k_levels); }).get(), k_levels);
    async(k_one_mebibyte, [&sum] { sum = descend(k_levels); }).then([&sum] { sum += 1; }).get();
    EXPECT_EQ(sum.load(), k_levels + 1);
    sum = 0;
    parallel_for(
        0, 500, [&sum](int) { sum += descend(k_levels); }, k_one_mebibyte);
    EXPECT_EQ(sum.load(), 500U * k_levels);
    const auto all = parallel_reduce(
        0, 300, std::uint64_t{0}, [](int) { return descend(k_levels); }, std::plus<>(), static_partitioner{},
        k_one_mebibyte);
    EXPECT_EQ(all, 300U * k_levels);
    EXPECT_EQ(call_with_stack(k_one_mebibyte, [] { return descend(k_levels); }), k_levels);
  });
}

// The body is one task with its caller: it waits, and others wait for it, as everywhere.
TEST_P(workers, bodies_on_such_stacks_wait_and_go_on) {
  run([] {
    constexpr int k_tasks = 200;
    semaphore go(0);
    std::atomic<int> here{0};
    std::atomic<int> moved{0};
    task_group group;
    for (int i = 0; i < k_tasks; ++i)
      group.run(stack_bytes(std::size_t{256} << 10), [&] {
        const unsigned worker = detail::t_worker->index;
        here.fetch_add(1);
        go.acquire();
        if (detail::t_worker->index != worker) moved.fetch_add(1);
        // Iterations that wait are cut from their range on such stacks, too.
        std::atomic<int> ran{0};
        parallel_for(
            0, 20,
            [&](int) {
              yield();
              ran.fetch_add(1);
            },
            stack_bytes(std::size_t{64} << 10));
        if (ran.load() != 20) moved.fetch_add(1);
      });
    while (here.load() < k_tasks) yield();
    go.release(k_tasks);
    group.wait();
    EXPECT_EQ(moved.load(), 0);
  });
}

// A range goes on elsewhere when what one of its iterations calls on another stack waits.
TEST(stack_bytes, a_wait_on_another_stack_holds_up_no_other_iteration) {
  run_pool(1, [] {
    std::atomic<int> came{0};
    latch all(10);
    parallel_for(
        0, 10,
        [&](int) {
          call_with_stack(k_one_mebibyte, [&] {
            came.fetch_add(1);
            all.arrive_and_wait();  // for all ten of them
          });
        },
        simple_partitioner{10});
    EXPECT_EQ(came.load(), 10);
  });
}

TEST(stack_bytes, where_there_is_room_the_call_is_an_ordinary_one) {
  run_pool(1, [] {
    std::set<const fiber::fiber*> stacks;
    const auto note = [&stacks] { stacks.insert(this_worker()->current()); };
    call_with_stack(k_one_mebibyte, [&] {
      note();
      call_with_stack(stack_bytes(std::size_t{512} << 10), note);  // as much is left
      call_with_stack(stack_bytes(0), note);
      EXPECT_EQ(stacks.size(), 1U);
      call_with_stack(stack_bytes(std::size_t{2} << 20), note);  // is not
      EXPECT_EQ(stacks.size(), 2U);
    });
    for (int i = 0; i < 100; ++i) call_with_stack(k_one_mebibyte, note);  // the same stack again and again
    EXPECT_EQ(stacks.size(), 2U);
  });
}

TEST(stack_bytes, exceptions_and_values_come_back) {
  run_pool(2, [] {
    struct only_moved {
      explicit only_moved(int v) : value(v) {}
      only_moved(only_moved&&) = default;
      int value;
    };
    EXPECT_EQ(call_with_stack(k_one_mebibyte, [] { return only_moved(7); }).value, 7);
    try {
      throw std::runtime_error("outer");
    } catch (const std::exception& outer) {
      EXPECT_THROW(call_with_stack(k_one_mebibyte, []() -> int { throw std::logic_error("inner"); }), std::logic_error);
      EXPECT_STREQ(outer.what(), "outer");
    }
    task_group group;
    group.run(k_one_mebibyte, [] { throw std::logic_error("of a task"); });
    EXPECT_THROW(group.wait(), std::logic_error);
    EXPECT_THROW(async(k_one_mebibyte, []() -> int { throw std::logic_error("of a future"); }).get(), std::logic_error);
    EXPECT_THROW(parallel_for(
                     0, 9, [](int) { throw std::logic_error("of a loop"); }, k_one_mebibyte),
                 std::logic_error);
  });
}

TEST(stack_bytes, too_large_a_request_says_what_to_do) {
  try {
    static_cast<void>(stack_bytes(stack_bytes::k_most + 1));
    FAIL() << "it was accepted";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    EXPECT_NE(std::string(e.what()).find("67108864 are the most"), std::string::npos) << e.what();
  }
  run_pool(1, [] {
    EXPECT_EQ(call_with_stack(stack_bytes(stack_bytes::k_most),
                              [] {
                                volatile unsigned char large[std::size_t{60} << 20];
                                large[0] = 1;
                                return large[0] + 1;
                              }),
              2);
  });
}

// Few stacks: a task that finds none waits for one of its worker's; the program goes on.
TEST(stack_bytes, tasks_wait_for_a_stack_of_their_size) {
  pool_options options;
  options.most_stacks = 128;
  pool p(options);

  testing::internal::CaptureStderr();
  p.run([] {
    constexpr int k_tasks = 100;  // that need two stacks each
    const stack_bytes large(std::size_t{16} << 20);
    semaphore go(0);
    std::atomic<int> within{0};
    task_group group;
    for (int i = 0; i < k_tasks; ++i)
      group.run(large, [&] {
        [[maybe_unused]] volatile unsigned char used[64 << 10];
        used[0] = 1;
        asm volatile("" : : "r"(used) : "memory");  // compilers leave out what nobody uses
        yield();
        call_with_stack(large, [&] {
          ++within;
          go.acquire();
        });
      });
    for (int i = 0; i < 1000; ++i) yield();
    EXPECT_GT(within.load(), 0);
    EXPECT_LT(within.load(), k_tasks);
    go.release(k_tasks);
    group.wait();
    EXPECT_EQ(within.load(), k_tasks);
  });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("no stack left of the size"), std::string::npos) << said;
  EXPECT_NE(said.find("SHOAL_STACKS"), std::string::npos) << said;
}

// Nobody would ever give one back: an error instead of a wait without end.
TEST(stack_bytes, a_stack_that_the_system_refuses_is_an_error_of_the_task) {
#if !SHOAL_TSAN && !SHOAL_ASAN
  if (!machine::keeps_memory_limits()) GTEST_SKIP() << "this system (an emulator) keeps no limit of memory";
  const int status = machine::in_child([] {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) return 1;
    int result = 2;
    run_pool(1, [&result] {
      const std::size_t used = std::size_t{1} << 30;
      const rlimit limit{used, used};
      if (::setrlimit(RLIMIT_DATA, &limit) != 0) return;
      const rlimit none{std::size_t{16} << 20, used};
      if (::setrlimit(RLIMIT_DATA, &none) != 0) return;
      try {
        call_with_stack(stack_bytes(stack_bytes::k_most), [&result] { result = 3; });
        result = 4;
      } catch (const error& e) {
        result = e.code() == errc::out_of_memory ? 0 : 5;
      }
      call_with_stack(stack_bytes(0), [] {});
    });
    return result;
  });
  EXPECT_TRUE(machine::exited_with(status, 0)) << status;
#endif
}

// Tasks that fill futures are the same task on both stacks: a cycle is noticed.
TEST(stack_bytes, a_cycle_of_futures_is_noticed_across_stacks) {
  run_pool(1, [] {
    future<int> first;
    future<int> second;
    std::atomic<int> cycles{0};
    const auto take = [&cycles](future<int>& f) {
      while (!f.valid()) yield();
      try {
        return call_with_stack(k_one_mebibyte, [&f] { return f.get(); });
      } catch (const error& e) {
        if (e.code() == errc::deadlock) ++cycles;
        return 1;
      }
    };
    std::atomic<bool> both{false};
    const auto begin = [&](future<int>& other) {
      return [&] {
        while (!both.load()) yield();
        return take(other);
      };
    };
    first = async("first", k_one_mebibyte, begin(second));
    second = async("second", k_one_mebibyte, begin(first));
    both = true;
    for (int i = 0; i < 10; ++i) yield();
    while (cycles == 0) yield();
    for (int i = 0; i < 100; ++i) yield();
    EXPECT_EQ(cycles.load(), 1);
  });
}

// The pages of a peak come back though the worker is busy all the time.
TEST(stack_bytes, pages_are_given_back_while_tasks_go_on) {
#if SHOAL_TSAN
  GTEST_SKIP() << "TSan knows too few stacks, and keeps memory of its own for each";
#endif
  pool_options options;
  options.workers = 1;
  options.most_stacks = std::size_t{1} << 14;
  pool p(options);
  p.run([&p] {
    constexpr int k_peak = 3000;
    std::vector<std::byte*> frames(k_peak);
    {
      semaphore go(0);
      std::atomic<int> begun{0};
      task_group group;
      for (int i = 0; i < k_peak; ++i)
        group.run([&, i] {
          volatile unsigned char deep[16 << 10];
          for (std::size_t at = 0; at < sizeof deep; at += 4096) deep[at] = 1;
          std::size_t stack = 0;
          if (p.stacks().find(const_cast<unsigned char*>(deep), &stack)) frames[i] = p.stacks().bottom(stack);
          ++begun;
          go.acquire();
        });
      while (begun < k_peak) yield();
      go.release(k_peak);
      group.wait();
    }
    const auto resident_bytes = [&p] {
      std::size_t pages = 0;
      std::size_t stack = 0;
      const std::size_t bytes = p.stacks().stack_bytes();
      std::vector<unsigned char> present(bytes / machine::page_size());
      for (std::size_t i = 0; i < k_peak; ++i) {
        std::byte* const bottom = p.stacks().bottom(i);
        EXPECT_TRUE(p.stacks().find(bottom, &stack));
        if (mincore(bottom, bytes, present.data()) != 0) continue;
        for (const unsigned char one : present) pages += one & 1U;
      }
      return pages * machine::page_size();
    };
    const std::size_t peak = resident_bytes();
    EXPECT_GE(peak, std::size_t{k_peak} * 16 << 10);
    std::size_t left = peak;
    for (int round = 0; round < 5000 && left > peak / 5; ++round) {
      parallel_for(
          0, 2000, [](int i) { descend(static_cast<unsigned>(i) % 10); }, simple_partitioner{10});
      if (round % 20 == 0) left = resident_bytes();
    }
    EXPECT_LE(left, peak / 5);
  });
}

#if !SHOAL_TSAN && !SHOAL_ASAN

TEST(stack_bytes_death, the_same_recursion_overflows_an_ordinary_stack_and_the_line_says_what_to_ask_for) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto on_pool_stack = [](auto stack, unsigned levels) {
    explain_stack_overflows();
    run_pool(1, [&] {
      std::atomic<bool> ended{false};
      task_group group;
      group.run(stack, [&] {
        descend(levels);
        ended = true;
      });
      while (!ended) yield();
      group.wait();
    });
  };
  on_pool_stack(k_one_mebibyte, k_levels);
  EXPECT_DEATH(on_pool_stack(stack_bytes(0), k_levels),
               "the task [^ ]+0x[0-9a-f]+ .see addr2line -Cfie. has overflowed its stack of 65536 bytes.*"
               "worker 0, stack [0-9]+.; raise the setting stack.*shoal::stack_bytes");
  EXPECT_DEATH(on_pool_stack(k_one_mebibyte, 100 * k_levels),
               "the task [^ ]+0x[0-9a-f]+ .see addr2line -Cfie. has overflowed its stack of 10[0-9]+ bytes.*"
               "worker 0, stack [0-9]+.; ask for more with shoal::stack_bytes");
}

#endif

}  // namespace
}  // namespace shoal::sched
