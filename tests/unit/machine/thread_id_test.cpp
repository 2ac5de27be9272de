// SPDX-License-Identifier: Apache-2.0
#include "machine/thread_id.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <thread>

#include "in_child.hpp"
#include "machine/topology.hpp"

namespace shoal::machine {
namespace {

TEST(thread_id, the_own_stack_lies_below_the_callers_frame) {
  const auto look = [] {
    const auto* const here = static_cast<const std::byte*>(__builtin_frame_address(0));
    const std::byte* const bottom = own_stack_bottom();
    EXPECT_GT(here - bottom, 64 << 10);
    EXPECT_LE(here - bottom, 1 << 30);
  };
  look();
  std::thread(look).join();
}

TEST(thread_id, is_the_threads_own_and_known_while_it_lives) {
  const std::uint32_t mine = thread_id();
  EXPECT_NE(mine, 0U);
  EXPECT_EQ(thread_id(), mine);
  EXPECT_TRUE(thread_lives(mine));
  std::uint32_t other = 0;
  std::string name;
  std::thread([&] {
    pthread_setname_np(pthread_self(), "fisher");
    other = thread_id();
    name = thread_name(other);
    EXPECT_TRUE(thread_lives(other));
  }).join();
  EXPECT_NE(other, mine);
  EXPECT_EQ(name, "fisher");
  // join() may return a moment before the kernel has taken the thread off its list.
  for (int i = 0; i < 1000 && thread_lives(other); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_FALSE(thread_lives(other));
  EXPECT_EQ(thread_name(other), "");
}

TEST(thread_id, a_forked_child_has_a_number_of_its_own) {
  const std::uint32_t mine = thread_id();
  const int status = in_child([mine] {
    if (thread_id() == mine) return 1;
    return thread_lives(thread_id()) ? 0 : 2;
  });
  EXPECT_TRUE(exited_with(status, 0)) << status;
  EXPECT_EQ(thread_id(), mine);
}

TEST(thread_id, a_stack_that_the_system_does_not_know_can_be_named) {
  const std::array<std::byte, 64> other{};
  set_own_stack(other);
  EXPECT_EQ(own_stack().data(), other.data());
  EXPECT_EQ(own_stack().size(), other.size());
  EXPECT_EQ(own_stack_bottom(), other.data());
  set_own_stack({});
  EXPECT_NE(own_stack_bottom(), other.data());
}

TEST(thread_id, a_nice_value_is_of_one_thread) {
  const int mine = nice_value();
  const int more = std::min(mine + 5, 19);
  std::thread([&] {
    EXPECT_EQ(nice_value(), mine);
    EXPECT_TRUE(set_nice_value(more));
    EXPECT_EQ(nice_value(), more);
  }).join();
  EXPECT_EQ(nice_value(), mine);
}

TEST(thread_id, the_current_processor_is_one_that_this_process_may_use) {
  const auto machine = topology::discover();
  const unsigned pu = current_processor();
  bool known = false;
  for (const processor& p : machine.processors()) known = known || p.pu == pu;
  EXPECT_TRUE(known) << pu;
}

}  // namespace
}  // namespace shoal::machine
