// SPDX-License-Identifier: Apache-2.0
#include "shoal/task.hpp"
#include "shoal/future.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sched/pool.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "unit/sched/pool_run.hpp"

namespace {

using shoal::sched::pool;
using shoal::sched::pool_options;

void with_pool(unsigned workers, const std::function<void()>& body) {
  pool_options options;
  options.workers = workers;
  pool p(options);
  p.run(body);
}

class tasks : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, tasks, testing::Values(1U, 2U, 4U));

std::uint64_t fib(std::uint64_t n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  shoal::parallel_invoke([&] { a = fib(n - 1); }, [&] { b = fib(n - 2); });
  return a + b;
}

std::uint64_t group_fib(std::uint64_t n) {
  if (n < 2) return n;
  std::uint64_t a = 0;
  shoal::task_group group;
  group.run([&a, n] { a = group_fib(n - 1); });
  const std::uint64_t b = group_fib(n - 2);
  group.wait();
  return a + b;
}

TEST_P(tasks, parallel_invoke_computes_fibonacci) {
  with_pool(GetParam(), [] { EXPECT_EQ(fib(20), 6765U); });
}

TEST_P(tasks, parallel_invoke_takes_any_number) {
  with_pool(GetParam(), [] {
    int a = 0;
    int b = 0;
    int c = 0;
    int d = 0;
    shoal::parallel_invoke([&] { a = 1; }, [&] { b = 2; }, [&] { c = 3; }, [&] { d = 4; });
    EXPECT_EQ(a + 10 * b + 100 * c + 1000 * d, 4321);
    std::atomic<int> ended{0};
    const auto fails = [&ended](const char* what) {
      shoal::yield();
      ended.fetch_add(1);
      throw std::runtime_error(what);
    };
    try {
      shoal::parallel_invoke([&] { ended.fetch_add(1); }, [&] { fails("second"); }, [&] { fails("third"); });
      ADD_FAILURE() << "nothing thrown";
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "second");
    }
    EXPECT_EQ(ended.load(), 3);
  });
}

TEST_P(tasks, groups_compute_fibonacci) {
  with_pool(GetParam(), [] { EXPECT_EQ(group_fib(20), 6765U); });
}

TEST_P(tasks, a_group_runs_every_task_once) {
  with_pool(GetParam(), [] {
    std::vector<std::atomic<int>> runs(10000);
    shoal::task_group group;
    for (auto& r : runs) group.run([&r] { r.fetch_add(1); });
    group.wait();
    for (auto& r : runs) ASSERT_EQ(r.load(), 1);
  });
}

TEST_P(tasks, the_first_exception_reaches_the_waiter_and_the_group_can_be_used_again) {
  with_pool(GetParam(), [] {
    shoal::task_group group;
    for (int i = 0; i < 100; ++i)
      group.run([i] {
        if (i % 10 == 3) throw std::runtime_error("task " + std::to_string(i));
      });
    EXPECT_THROW(group.wait(), std::runtime_error);
    bool ran = false;
    group.run([&ran] { ran = true; });
    EXPECT_NO_THROW(group.wait());
    EXPECT_TRUE(ran);
  });
}

TEST_P(tasks, an_exception_of_either_side_leaves_parallel_invoke_after_both_have_ended) {
  with_pool(GetParam(), [] {
    std::atomic<int> ended{0};
    EXPECT_THROW(shoal::parallel_invoke(
                     [&] {
                       ended.fetch_add(1);
                       throw std::logic_error("f");
                     },
                     [&] {
                       shoal::yield();
                       ended.fetch_add(1);
                     }),
                 std::logic_error);
    EXPECT_EQ(ended.load(), 2);
    EXPECT_THROW(shoal::parallel_invoke([&] {}, [&] { throw std::logic_error("g"); }), std::logic_error);
  });
}

std::uint64_t deep_on_the_left(std::uint64_t depth) {
  if (depth == 0) return 0;
  std::uint64_t below = 0, here = 0;
  shoal::parallel_invoke([&] { below = deep_on_the_left(depth - 1); }, [&] { here = 1; });
  return below + here;
}

std::uint64_t deep_on_the_right(std::uint64_t depth) {
  if (depth == 0) return 0;
  std::uint64_t below = 0, here = 0;
  shoal::parallel_invoke([&] { here = 1; }, [&] { below = deep_on_the_right(depth - 1); });
  return below + here;
}

TEST_P(tasks, parallel_invoke_needs_no_deep_stack) {
  with_pool(GetParam(), [] {
    static constexpr std::uint64_t k_depth = shoal::sched::k_deep;
    const auto both = [] {
      EXPECT_EQ(deep_on_the_left(k_depth), k_depth);
      EXPECT_EQ(deep_on_the_right(k_depth), k_depth);
    };
    both();
    shoal::task_group group;
    group.run(both);
    group.run(both);
    group.wait();
  });
}

void throw_from(unsigned depth) {
  if (depth == 0) throw std::runtime_error("from the depth");
  shoal::parallel_invoke([&] { throw_from(depth - 1); }, [&] { throw std::logic_error(std::to_string(depth)); });
}

TEST_P(tasks, parallel_invoke_throws_the_first_in_order_from_any_depth) {
  with_pool(GetParam(), [] { EXPECT_THROW(throw_from(shoal::sched::k_deep / 10), std::runtime_error); });
}

TEST_P(tasks, futures_give_values_and_exceptions) {
  with_pool(GetParam(), [] {
    auto value = shoal::async([] { return std::string("forty-two"); });
    auto nothing = shoal::async([] {});
    auto failure = shoal::async([]() -> int { throw std::out_of_range("no"); });
    EXPECT_EQ(value.get(), "forty-two");
    nothing.get();
    EXPECT_THROW(failure.get(), std::out_of_range);
    EXPECT_FALSE(value.valid());
  });
}

TEST_P(tasks, an_exception_that_escapes_the_main_task_leaves_run) {
  EXPECT_THROW(with_pool(GetParam(), [] { throw std::runtime_error("main"); }), std::runtime_error);
}

TEST_P(tasks, exceptions_in_flight_belong_to_the_task_and_not_to_the_thread) {
  with_pool(GetParam(), [] {
    shoal::task_group group;
    std::atomic<int> right{0};
    for (int i = 0; i < 200; ++i)
      group.run([i, &right] {
        try {
          throw i;
        } catch (int mine) {
          for (int k = 0; k < 5; ++k) shoal::yield();  // others throw and catch meanwhile, on the same thread
          try {
            throw;
          } catch (int again) {
            if (again == i && mine == i) right.fetch_add(1);
          }
        }
      });
    group.wait();
    EXPECT_EQ(right.load(), 200);
  });
}

struct yields_when_destroyed {
  ~yields_when_destroyed() {
    for (int k = 0; k < 3; ++k) shoal::yield();
    seen->fetch_add(std::uncaught_exceptions());
  }
  std::atomic<int>* seen;
};

TEST_P(tasks, destructors_may_wait_during_unwinding) {
  with_pool(GetParam(), [] {
    std::atomic<int> seen{0};
    std::atomic<int> caught{0};
    shoal::task_group group;
    for (int i = 0; i < 100; ++i)
      group.run([&] {
        try {
          const yields_when_destroyed guard{&seen};
          throw 1;
        } catch (int) {
          caught.fetch_add(1);
        }
      });
    group.wait();
    EXPECT_EQ(caught.load(), 100);
    EXPECT_EQ(seen.load(), 100);
  });
}

TEST_P(tasks, a_task_that_waits_goes_on_on_its_thread) {
  with_pool(GetParam(), [] {
    std::atomic<int> moved{0};
    shoal::task_group group;
    for (int i = 0; i < 100; ++i)
      group.run([&moved] {
        const auto before = std::this_thread::get_id();
        for (int k = 0; k < 10; ++k) {
          shoal::yield();
          if (std::this_thread::get_id() != before) moved.fetch_add(1);
        }
      });
    group.wait();
    EXPECT_EQ(moved.load(), 0);
  });
}

// The word belongs to the thread, and TSan thinks in tasks.
int error_now() {
  const shoal::detail::tsan_ignore_scope ignore;
  return errno;
}
void set_error(int number) {
  const shoal::detail::tsan_ignore_scope ignore;
  errno = number;
}

TEST_P(tasks, errno_holds_over_a_wait) {
  with_pool(GetParam(), [] {
    std::atomic<int> changed{0};
    shoal::task_group group;
    for (int i = 1; i <= 100; ++i)
      group.run([i, &changed] {
        set_error(i);
        for (int k = 0; k < 5; ++k) {
          shoal::yield();
          if (error_now() != i) changed.fetch_add(1);
        }
      });
    set_error(4321);
    for (int k = 0; k < 100; ++k) {
      shoal::yield();
      EXPECT_EQ(error_now(), 4321);
    }
    group.wait();
    EXPECT_EQ(changed.load(), 0);
  });
}

template <std::size_t Alignment>
struct alignas(Alignment) aligned {
  int value = 7;
  bool right() const { return value == 7 && reinterpret_cast<std::uintptr_t>(this) % Alignment == 0; }
};

TEST_P(tasks, bodies_and_results_are_aligned_as_they_ask) {
  with_pool(GetParam(), [] {
    std::atomic<int> right{0};
    const auto count = [&right](const auto& a) { right.fetch_add(a.right() ? 1 : 0); };
    shoal::task_group group;
    std::vector<shoal::future<aligned<64>>> results;
    for (int i = 0; i < 20; ++i) {
      group.run([&count, a = aligned<32>()] { count(a); });
      group.run([&count, a = aligned<64>()] { shoal::yield(), count(a); });
      group.run([&count, a = aligned<4096>()] { count(a); });
      results.push_back(shoal::async([a = aligned<64>()] { return a; }));
    }
    shoal::parallel_invoke([&count, a = aligned<64>()] { count(a); }, [&count, a = aligned<128>()] { count(a); });
    group.wait();
    EXPECT_EQ(right.load(), 62);
    for (auto& r : results) EXPECT_EQ(r.get().value, 7);
  });
}

TEST(task_group, says_so_when_an_exception_is_dropped) {
  testing::internal::CaptureStderr();
  with_pool(1, [] {
    shoal::task_group dropped;
    dropped.run([] { throw std::runtime_error("nobody asks"); });
  });
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nobody asks"), std::string::npos);
  testing::internal::CaptureStderr();
  with_pool(1, [] {
    shoal::task_group asked;
    asked.run([] { throw std::runtime_error("somebody asks"); });
    EXPECT_THROW(asked.wait(), std::runtime_error);
  });
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

struct refuses_copies {
  refuses_copies() = default;
  refuses_copies(const refuses_copies&) { throw std::domain_error("no copy"); }
  void operator()() const {}
};

TEST(task_group, a_body_that_cannot_be_copied_costs_nothing_and_is_thrown) {
  with_pool(1, [] {
    shoal::task_group group;
    const auto fill = [&group](int children) {
      for (int i = 0; i < children; ++i) group.run([] {});  // the first children of a group need no block
    };
    fill(20);
    group.wait();  // leaves blocks to be used again
    const auto& w = *shoal::detail::t_worker;
    const auto free_blocks = [&w] { return w.blocks[0].count + w.blocks[1].count; };
    const unsigned before = free_blocks();
    ASSERT_GE(before, 1U);
    const refuses_copies body;
    EXPECT_THROW(group.run(body), std::domain_error);  // in the group itself
    EXPECT_EQ(free_blocks(), before);
    fill(12);
    const unsigned then = free_blocks();
    EXPECT_THROW(group.run(body), std::domain_error);  // in a block
    EXPECT_EQ(free_blocks(), then);
    group.wait();
  });
}

TEST(task_group, small_bodies_after_a_large_one_are_aligned) {
  with_pool(1, [] {
    for (int filling = 1; filling < 256; filling += 6) {
      alignas(shoal::task_group) std::byte place[sizeof(shoal::task_group)];
      std::memset(place, filling, sizeof place);
      auto* const group = ::new (place) shoal::task_group;
      int ended = 0;
      std::array<char, 300> large{};
      group->run([large, &ended] { ended += 1 + large[0]; });
      for (int i = 0; i < 3; ++i)
        group->run([number = 1.0L, &ended] {
          ended += reinterpret_cast<std::uintptr_t>(&number) % alignof(long double) == 0 ? 1 : 0;
        });
      group->wait();
      EXPECT_EQ(ended, 4);
      group->~task_group();
    }
  });
}

TEST(pool, tasks_that_only_yield_do_not_starve_one_that_has_not_begun) {
  with_pool(1, [] {
    std::atomic<bool> flag{false};
    shoal::task_group group;
    group.run([&flag] { flag.store(true); });  // begins last: last in, first out
    for (int i = 0; i < 3; ++i)
      group.run([&flag] {
        while (!flag.load()) shoal::yield();
      });
    while (!flag.load()) shoal::yield();
    group.wait();
  });
}

TEST(pool, an_idle_pool_uses_no_processor_time) {
  with_pool(4, [] {
    const auto used = [] {
      timespec t{};
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
      return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
    };
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const double before = used();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    EXPECT_LT(used() - before, 0.1);  // spinning workers would use more than half a second
  });
}

#if !SHOAL_TSAN && !SHOAL_ASAN
void wait_inside(unsigned workers, bool taken, bool owner_waits) {
  with_pool(workers, [taken, owner_waits] {
    shoal::task_group group;
    std::atomic<bool> begun{false};
    group.run([&] {
      begun.store(true);
      if (owner_waits)
        for (int i = 0; i < 100; ++i) shoal::yield();
      group.wait();
    });
    while (taken && !begun.load()) shoal::yield();  // by another loop than the one that the group's user stands on
    if (!owner_waits)
      for (;;) shoal::yield();
    group.wait();
  });
}

TEST(tasks_death_test, waiting_for_a_group_from_inside_itself_is_stopped_with_a_sentence) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr const char* k_sentence = "a task_group is waited for from inside itself";
  EXPECT_DEATH(wait_inside(1, false, true), k_sentence);  // in place
  EXPECT_DEATH(wait_inside(1, true, true), k_sentence);
  EXPECT_DEATH(wait_inside(1, true, false), k_sentence);
  EXPECT_DEATH(wait_inside(2, true, true), k_sentence);
  EXPECT_DEATH(wait_inside(2, true, false), k_sentence);
}
#endif

#if !SHOAL_TSAN && !SHOAL_ASAN
TEST(tasks_death_test, a_group_with_tasks_that_ends_on_a_thread_of_the_program) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        std::atomic<bool> end{false};
        shoal::task_group group;
        with_pool(2, [&] {
          group.run([&end] {
            while (!end.load()) shoal::yield();
          });
          std::thread([&group] { group.wait(); }).join();
        });
      },
      "this is for tasks: call it from a task");
}
#endif

TEST(tasks, parallel_invoke_of_one_is_a_call) {
  with_pool(1, [] {
    int ran = 0;
    shoal::parallel_invoke([&ran] { ++ran; });
    EXPECT_EQ(ran, 1);
    EXPECT_THROW(shoal::parallel_invoke([] { throw 3; }), int);
  });
}

}  // namespace
