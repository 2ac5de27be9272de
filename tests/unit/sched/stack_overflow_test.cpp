// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_overflow.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <functional>
#include <thread>

#include "shoal/future.hpp"
#include "shoal/loop.hpp"
#include "shoal/task_flow.hpp"
#include "shoal/task_graph.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

#if !SHOAL_TSAN && !SHOAL_ASAN

// What is written first is the far end of a frame.
[[gnu::noinline]] int descend(volatile char* above) {
  volatile char frame[3000];
  frame[sizeof frame - 1] = *above;
  frame[0] = 1;
  return above == nullptr ? 0 : descend(frame) + frame[1];
}
void overflow() {
  volatile char start = 0;
  descend(&start);
}

void with_explanation(const std::function<void()>& body) {
  explain_stack_overflows();
  run_pool(1, body);
}

// Runs `body` on a stack of the pool: the thread's own is left behind by a wait.
void on_small_stack(const std::function<void()>& body) {
  with_explanation([&body] {
    std::atomic<bool> ended{false};
    task_group group;
    group.run([&] {
      body();
      ended.store(true);
    });
    while (!ended.load()) yield();
    group.wait();
  });
}

constexpr const char* k_whole_line =
    "the task [^ ]+0x[0-9a-f]+ .see addr2line -Cfie. has overflowed its stack of [0-9]+ bytes, in [^ ]+0x[0-9a-f]+ "
    ".worker 0, stack [0-9]+.; raise the setting stack";

TEST(stack_overflow_death, names_body_instruction_stack_and_setting) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(on_small_stack(overflow), k_whole_line);
}

TEST(stack_overflow_death, names_the_main_task) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(with_explanation(overflow), "the main task has overflowed its stack, which is its thread's own");
}

TEST(stack_overflow_death, a_frame_beyond_a_stack_s_size_is_in_the_guard) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(on_small_stack([] {
                 std::array<char, 200'000> large;
                 volatile char* const lowest = large.data();
                 *lowest = 1;
                 asm volatile("" : : "r"(lowest) : "memory");  // compilers leave out what nobody uses
               }),
               "has overflowed its stack of");
}

TEST(stack_overflow_death, names_futures) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const k_walker = "the task 'walker' .[^ ]+0x[0-9a-f]+; see addr2line -Cfie. has overflowed its stack";
  EXPECT_DEATH(with_explanation([] { async("walker", overflow).get(); }), k_walker);  // in place
  EXPECT_DEATH(with_explanation([] {
                 auto f = async("walker", overflow);
                 while (!f.ready()) yield();
               }),
               k_walker);
  EXPECT_DEATH(with_explanation([] { async("walker", [] {}).then(overflow).get(); }), k_walker);
  // The inner one, though it has no name.
  EXPECT_DEATH(with_explanation([] { async("walker", [] { async(overflow).get(); }).get(); }),
               "the task [^']+ has over");
}

TEST(stack_overflow_death, names_tasks_of_graphs_whichever_of_a_strand) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool loop : {false, true})
    EXPECT_DEATH(with_explanation([loop] {
                   task_graph g;
                   auto first = g.add("first", [] {});
                   first.precedes(g.add("second", [loop] {
                     if (loop)
                       parallel_for(0, 3, [](int) { overflow(); });
                     else
                       overflow();
                   }));
                   g.run();
                 }),
                 "the task 'second' .[^ ]+0x[0-9a-f]+; see addr2line -Cfie. has overflowed its stack");
}

// The address is that of code made for this very body.
TEST(stack_overflow, the_code_of_loops_and_flows_is_the_body_s) {
  run_pool(1, [] {
    const auto code = [] { return this_worker()->begun().code; };
    const void* seen[4] = {};
    parallel_for(0, 1, [&](int) { seen[0] = code(); });
    parallel_for(0, 1, [&](int) { seen[1] = code(); });
    task_flow flow;
    flow.run([&] { seen[2] = code(); });
    flow.run([&] { seen[3] = code(); });
    flow.wait();
    for (int i = 0; i < 4; ++i) {
      EXPECT_NE(seen[i], nullptr) << i;
      for (int k = 0; k < i; ++k) EXPECT_NE(seen[i], seen[k]) << i << ' ' << k;
    }
    EXPECT_EQ(code(), nullptr);  // the main task again
  });
}

TEST(stack_overflow_death, a_null_pointer_of_another_thread_is_told_with_its_address_and_no_other_fault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto touch = [](std::uintptr_t address) {
    explain_stack_overflows();
    std::thread([address] { *reinterpret_cast<volatile char*>(address) = 1; }).join();
  };
  EXPECT_DEATH(touch(24), "address 0x18: a null pointer of the program's own, or perhaps");
  EXPECT_DEATH(touch(200), "^(qemu: )?[^:]*$");
}

#endif

}  // namespace
}  // namespace shoal::sched
