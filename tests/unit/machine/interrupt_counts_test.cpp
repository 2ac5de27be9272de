// SPDX-License-Identifier: Apache-2.0
#include "machine/interrupt_counts.hpp"

#include <gtest/gtest.h>

namespace shoal::machine {
namespace {

constexpr const char* k_interrupts =
    "           CPU0       CPU2       \n"
    " 36:          5      84603 PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0\n"
    "LOC:      63700      53209   Local timer interrupts\n"
    "ERR:          0\n";
constexpr const char* k_softirqs =
    "                    CPU0       CPU2       \n"
    "          HI:          0          1\n"
    "       TIMER:        100        200\n";
constexpr const char* k_stat =
    "cpu  1 2 3 4 5 6 7 30 9 10\ncpu0 1 2 3 4 5 6 7 10 9 10\ncpu2 1 2 3 4 5 6 7 20 9 10\nintr 5\n";

TEST(interrupt_counts, names_and_processors_are_read) {
  const auto c = parse_interrupt_counts(k_interrupts, k_softirqs, k_stat, 100);
  ASSERT_EQ(c.counts.size(), 4U);
  EXPECT_EQ(c.counts[0].name, "virtio1-req.0");
  ASSERT_EQ(c.counts[0].by_processor.size(), 3U);
  EXPECT_EQ(c.counts[0].by_processor[0], 5U);
  EXPECT_EQ(c.counts[0].by_processor[1], 0U);  // is off
  EXPECT_EQ(c.counts[0].by_processor[2], 84603U);
  EXPECT_EQ(c.counts[1].name, "Local timer interrupts");
  EXPECT_EQ(c.counts[3].name, "softirq TIMER");
  ASSERT_EQ(c.steal_ns.size(), 3U);
  EXPECT_EQ(c.steal_ns[2], 200'000'000U);
}

TEST(interrupt_counts, a_difference_has_what_has_changed) {
  auto before = parse_interrupt_counts(k_interrupts, k_softirqs, k_stat, 100);
  auto after = before;
  after.counts[1].by_processor[2] += 10;
  after.steal_ns[0] += 5;
  const auto added = after.since(before);
  ASSERT_EQ(added.counts.size(), 1U);
  EXPECT_EQ(added.counts[0].name, "Local timer interrupts");
  EXPECT_EQ(added.counts[0].by_processor[2], 10U);
  EXPECT_EQ(added.steal_ns[0], 5U);
}

TEST(interrupt_counts, this_machine_has_some) { EXPECT_FALSE(interrupt_counts::now().counts.empty()); }

}  // namespace
}  // namespace shoal::machine
