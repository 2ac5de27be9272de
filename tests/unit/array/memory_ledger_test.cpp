// SPDX-License-Identifier: Apache-2.0
#include "array/memory_ledger.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace shoal;
using detail::allocation_label;

detail::array_layout array_in(std::uint32_t slot, std::uint64_t size) {
  detail::array_layout l;
  l.slot = slot;
  l.size = size;
  l.element_bytes = 8;
  return l;
}

memory_usage report_of(const array::memory_ledger& ledger) {
  memory_usage use;
  ledger.report(use);
  return use;
}

TEST(memory_ledger, knows_what_is_held_and_was_at_most) {
  array::memory_ledger ledger;
  EXPECT_EQ(ledger.text(2), "node 2 holds 0 global arrays of 0 B (0 B at most so far)");
  for (std::uint32_t slot = 0; slot < 5; ++slot)
    ledger.enter(array_in(slot, 100 * (slot + 1)), allocation_label(slot == 3 ? "ranks" : "", {}),
                 {4096 * (slot + 1), 0, 4096});
  EXPECT_EQ(report_of(ledger).arrays.bytes, 15 * 4096U);
  EXPECT_EQ(report_of(ledger).array_count, 5U);
  ledger.remove(array_in(4, 500));
  ledger.remove(array_in(4, 500));  // a failed allocation frees what was never entered
  const memory_usage use = report_of(ledger);
  EXPECT_EQ(use.arrays.bytes, 10 * 4096U);
  EXPECT_EQ(use.arrays.most_bytes, 15 * 4096U);
  ASSERT_EQ(use.holders.size(), 4U);
  EXPECT_EQ(use.holders[0].name, "ranks");
  EXPECT_EQ(
      ledger.text(0),
      "node 0 holds 4 global arrays of 40.0 KiB (60.0 KiB at most so far); the largest: 'ranks', array of 400 "
      "elements of 8 bytes: 16.0 KiB, array of 300 elements of 8 bytes: 12.0 KiB, array of 200 elements of 8 bytes: "
      "8.0 KiB");
  ledger.copies().take(4096);
  EXPECT_NE(ledger.text(0).find("copies for checkpoints of 4.0 KiB"), std::string::npos) << ledger.text(0);
  ledger.copies().give_back(4096);
  EXPECT_EQ(report_of(ledger).copies.bytes, 0U);
  EXPECT_EQ(report_of(ledger).copies.most_bytes, 4096U);
}

TEST(memory_ledger, counts_the_tables_of_containers) {
  array::memory_ledger ledger;
  auto& one = ledger.add_meter(detail::container_kind::map, allocation_label("words", code_place::here("a/b.cpp", 7)));
  auto& other = ledger.add_meter(detail::container_kind::queue, {});
  one.take(1000);
  other.take(500);
  one.give_back(200);
  memory_usage use = report_of(ledger);
  EXPECT_EQ(use.tables.bytes, 1300U);
  EXPECT_EQ(use.tables.most_bytes, 1500U);
  ASSERT_EQ(use.holders.size(), 2U);
  EXPECT_EQ(use.holders[0].what, "global_map");
  EXPECT_EQ(use.holders[0].name, "words");
  EXPECT_EQ(use.holders[0].place, "a/b.cpp:7");
  EXPECT_EQ(use.holders[0].memory.most_bytes, 1000U);
  one.give_back(800);
  ledger.remove_meter(one);
  use = report_of(ledger);
  ASSERT_EQ(use.holders.size(), 1U);
  EXPECT_EQ(use.holders[0].what, "global_queue");
  EXPECT_EQ(use.tables.bytes, 500U);
}

TEST(allocation_label, keeps_the_end_of_a_path_and_the_beginning_of_a_name) {
  const auto place = [](const char* file) {
    return std::string(allocation_label("", code_place::here(file, 12)).place());
  };
  EXPECT_EQ(place("/a/program/src/rank.cpp"), "src/rank.cpp:12");
  EXPECT_EQ(place("rank.cpp"), "rank.cpp:12");
  EXPECT_EQ(place("/rank.cpp"), "/rank.cpp:12");
  EXPECT_EQ(place(""), "");
  const std::string long_path = place(("x/" + std::string(100, 'y') + ".cpp").c_str());
  EXPECT_EQ(long_path.size(), 54U);
  EXPECT_TRUE(long_path.ends_with("yyy.cpp:12")) << long_path;
  EXPECT_EQ(allocation_label(std::string(100, 'n'), {}).name(), std::string(40, 'n'));
}

void expect_line(code_place at, unsigned line) { EXPECT_EQ(at.line(), line); }
struct made_there {
  explicit made_there(int, code_place where = code_place::here()) : place(where) {}
  code_place place;
};

TEST(code_place, is_that_of_the_call) {
  const made_there m(1);
  expect_line(m.place, __LINE__ - 1);
  EXPECT_TRUE(std::string(m.place.file()).ends_with("memory_ledger_test.cpp"));
}

}  // namespace
