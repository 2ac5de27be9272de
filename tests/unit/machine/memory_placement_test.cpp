// SPDX-License-Identifier: Apache-2.0
#include "machine/memory_placement.hpp"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "machine/huge_buffer.hpp"

namespace shoal::machine {
namespace {

using policy = std::pair<int, std::array<unsigned long, 16>>;

policy policy_of_thread() {
  policy p{-1, {}};
  ::syscall(SYS_get_mempolicy, &p.first, p.second.data(), 1024UL, nullptr, 0UL);
  return p;
}

TEST(memory_placement, takes_memory_from_the_nodes_that_are_asked_for) {
  const std::vector<unsigned> allowed = allowed_memory_nodes();
  if (allowed.empty()) GTEST_SKIP() << "the system does not say which memory nodes there are";
  for (const unsigned n : allowed) {
    huge_buffer memory;
    {
      const memory_placement here({n});
      if (here.refused() == EPERM) GTEST_SKIP() << "the system refuses to place memory";
      EXPECT_EQ(here.refused(), 0);
      memory = huge_buffer(std::size_t{8} << 20);
    }
    EXPECT_EQ(count_memory_nodes(memory.data(), memory.size()), 1U);
  }
  const memory_placement over(allowed);
  EXPECT_EQ(over.refused(), 0);
  const huge_buffer memory(std::size_t{8} << 20, page_kind::small);
  EXPECT_EQ(count_memory_nodes(memory.data(), memory.size()), std::min<std::size_t>(allowed.size(), 64));
}

TEST(memory_placement, ends_with_the_policy_that_was_before) {
  const policy before = policy_of_thread();
  const std::vector<unsigned> allowed = allowed_memory_nodes();
  if (allowed.empty()) GTEST_SKIP() << "the system does not say which memory nodes there are";
  {
    const memory_placement outer(allowed);
    if (outer.refused() != 0) GTEST_SKIP() << "the system refuses to place memory";
    const policy with_outer = policy_of_thread();
    { const memory_placement inner({allowed.front()}); }
    EXPECT_EQ(policy_of_thread(), with_outer);
  }
  EXPECT_EQ(policy_of_thread(), before);
}

TEST(memory_placement, on_a_node_that_is_not_there_is_refused_and_changes_nothing) {
  const policy before = policy_of_thread();
  {
    const memory_placement nowhere({1023});
    EXPECT_NE(nowhere.refused(), 0);
    EXPECT_EQ(policy_of_thread(), before);
  }
  EXPECT_EQ(policy_of_thread(), before);
}

TEST(memory_placement, knows_the_nodes_of_the_machine) {
  const auto nodes = memory_nodes();
  for (const memory_node& n : nodes) EXPECT_GE(n.total_bytes, n.free_bytes);
  if (nodes.empty()) return;  // no /sys
  for (const unsigned n : allowed_memory_nodes())
    EXPECT_TRUE(std::ranges::any_of(nodes, [n](const memory_node& one) { return one.number == n; })) << n;
}

TEST(memory_placement, of_pages_that_are_not_there_is_not_known) {
  EXPECT_EQ(count_memory_nodes(nullptr, 0), 0U);
  const huge_buffer untouched = huge_buffer::unpopulated(std::size_t{4} << 20, page_kind::small);
  EXPECT_EQ(count_memory_nodes(untouched.data(), untouched.size()), 0U);
}

}  // namespace
}  // namespace shoal::machine
