// SPDX-License-Identifier: Apache-2.0
#include "sched/dependence_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

namespace shoal::sched {
namespace {

constexpr auto k_in = access_mode::in;
constexpr auto k_out = access_mode::inout;
constexpr auto k_any_order = access_mode::commutative;

class dependence_tables : public testing::Test {
protected:
  dependence_tables() { tasks_.grow(100'000, nullptr, nullptr); }

  flow_task& task() {
    flow_task* t = tasks_.take();
    if (t == nullptr) {
      tasks_.grow(100'000, nullptr, nullptr);
      t = tasks_.take();
    }
    return *t;
  }
  void end(flow_task& t) {
    t.successors.close();
    t.next = nullptr;
    tasks_.put(&t);
  }
  static access at(std::uintptr_t begin, std::size_t bytes, access_mode mode) {
    return {array_region(reinterpret_cast<const char*>(begin), bytes), mode};
  }
  std::vector<flow_task*> enter(flow_task& t, const std::vector<access>& declared) {
    std::vector<flow_task*> found;
    table_.register_accesses(t, declared, found);
    std::sort(found.begin(), found.end());
    return found;
  }
  static std::vector<flow_task*> these(std::vector<flow_task*> tasks) {
    std::sort(tasks.begin(), tasks.end());
    return tasks;
  }

  flow_task_store tasks_;
  dependence_table table_{tasks_};
};

TEST_F(dependence_tables, readers_wait_for_the_writer_and_the_next_writer_for_the_readers) {
  flow_task& writer = task();
  EXPECT_TRUE(enter(writer, {at(100, 8, k_out)}).empty());
  std::vector<flow_task*> readers;
  for (int i = 0; i < 20; ++i) {
    readers.push_back(&task());
    EXPECT_EQ(enter(*readers.back(), {at(100, 8, k_in)}), these({&writer}));
  }
  flow_task& next = task();
  EXPECT_EQ(enter(next, {at(100, 8, k_out)}), these(readers));
  EXPECT_EQ(enter(task(), {at(100, 8, k_in)}), these({&next}));
  EXPECT_EQ(table_.segments(), 1U);
}

TEST_F(dependence_tables, regions_that_overlap_in_part_split_segments) {
  flow_task& left = task();
  flow_task& right = task();
  EXPECT_TRUE(enter(left, {at(100, 20, k_out)}).empty());
  EXPECT_EQ(enter(right, {at(110, 20, k_out)}), these({&left}));
  EXPECT_EQ(table_.segments(), 3U);
  flow_task& middle = task();
  EXPECT_EQ(enter(middle, {at(105, 10, k_in)}), these({&left, &right}));
  EXPECT_TRUE(enter(task(), {at(130, 5, k_out), at(90, 10, k_out)}).empty());
  EXPECT_EQ(enter(task(), {at(129, 1, k_out)}), these({&right}));
  EXPECT_EQ(enter(task(), {at(106, 1, k_out)}), these({&middle}));
}

TEST_F(dependence_tables, a_task_never_waits_for_itself_and_once_for_another) {
  flow_task& first = task();
  EXPECT_TRUE(enter(first, {at(0x1000, 8, k_in), at(0x1004, 8, k_out), at(0x1000, 12, k_in)}).empty());
  EXPECT_EQ(enter(task(), {at(0x1000, 4, k_out), at(0x1004, 4, k_in), at(0x1008, 4, k_out)}), these({&first}));
}

TEST_F(dependence_tables, tasks_that_have_ended_are_not_waited_for_even_if_their_places_are_used_again) {
  flow_task& first = task();
  enter(first, {at(0x1000, 8, k_out)});
  end(first);
  flow_task& second = task();
  ASSERT_EQ(&second, &first) << "the place is used again";
  EXPECT_TRUE(enter(second, {at(0x2000, 8, k_out)}).empty());
  EXPECT_TRUE(enter(task(), {at(0x1000, 8, k_out)}).empty());
}

TEST_F(dependence_tables, rows_of_a_block_are_rows) {
  constexpr std::uintptr_t k_matrix = 0x10000;
  flow_task& columns = task();
  enter(columns, {{region2d(reinterpret_cast<const char*>(k_matrix + 4), 3, 4, 16), k_out}});
  EXPECT_TRUE(
      enter(task(), {at(k_matrix, 4, k_out), at(k_matrix + 8, 12, k_out), at(k_matrix + 40, 12, k_in)}).empty());
  EXPECT_EQ(enter(task(), {at(k_matrix + 23, 1, k_out)}), these({&columns}));
  EXPECT_EQ(enter(task(), {at(k_matrix + 36, 1, k_in)}), these({&columns}));
}

TEST_F(dependence_tables, what_nobody_can_wait_for_is_swept_out) {
  flow_task& kept = task();
  enter(kept, {at(0x100, 8, k_out)});
  std::size_t most = 0;
  for (std::uintptr_t i = 0; i < 300'000; ++i) {
    flow_task& t = task();
    enter(t, {at(0x10000 + 8 * i, 8, k_out)});
    end(t);
    most = std::max(most, table_.segments());
  }
  EXPECT_LT(most, 70'000U);
  EXPECT_EQ(enter(task(), {at(0x104, 1, k_in)}), these({&kept}));
  table_.clear();
  EXPECT_EQ(table_.segments(), 0U);
  EXPECT_TRUE(enter(task(), {at(0x104, 1, k_out)}).empty());
}

TEST_F(dependence_tables, a_group_waits_for_what_came_before_and_what_comes_after_waits_for_the_group) {
  flow_task& writer = task();
  flow_task& reader = task();
  enter(writer, {at(100, 8, k_out)});
  enter(reader, {at(100, 8, k_in)});
  std::vector<flow_task*> group;
  for (int i = 0; i < 10; ++i) {
    group.push_back(&task());
    EXPECT_EQ(enter(*group.back(), {at(100, 8, k_any_order)}), these({&reader}));
    EXPECT_EQ(group.back()->terms->wanted, group.front()->terms->wanted);
  }
  std::vector<flow_task*> readers;
  for (int i = 0; i < 5; ++i) {
    readers.push_back(&task());
    EXPECT_EQ(enter(*readers.back(), {at(100, 8, k_in)}), these(group));
    EXPECT_EQ(readers.back()->terms, nullptr);
  }
  flow_task& of_next_group = task();
  EXPECT_EQ(enter(of_next_group, {at(100, 8, k_any_order)}), these(readers));
  EXPECT_EQ(enter(task(), {at(100, 8, k_out)}), these({&of_next_group}));
  EXPECT_EQ(table_.segments(), 1U);
}

TEST_F(dependence_tables, parts_of_a_split_group_keep_their_members_and_their_exclusion) {
  flow_task& whole = task();
  flow_task& left = task();
  flow_task& other = task();
  EXPECT_TRUE(enter(whole, {at(100, 20, k_any_order)}).empty());
  EXPECT_TRUE(enter(left, {at(100, 10, k_any_order)}).empty());
  EXPECT_TRUE(enter(other, {at(200, 10, k_any_order), at(100, 1, k_any_order), at(101, 1, k_any_order)}).empty());
  EXPECT_EQ(left.terms->wanted, whole.terms->wanted);
  EXPECT_EQ(other.terms->wanted.size(), 2U);
  EXPECT_EQ(enter(task(), {at(110, 5, k_in)}), these({&whole}));
  EXPECT_EQ(enter(task(), {at(102, 5, k_in)}), these({&whole, &left}));
  EXPECT_EQ(enter(task(), {at(100, 1, k_out)}), these({&whole, &left, &other}));
}

TEST_F(dependence_tables, an_exclusion_is_used_again_once_nobody_can_hold_it) {
  flow_task& first = task();
  enter(first, {at(0x100, 8, k_any_order)});
  const std::vector<exclusion*> kept = first.terms->wanted;
  std::set<exclusion*> others;
  for (std::uintptr_t i = 0; i < 200'000; ++i) {
    flow_task& t = task();
    enter(t, {at(0x10000 + 8 * i, 8, k_any_order)});
    EXPECT_NE(t.terms->wanted, kept);
    others.insert(t.terms->wanted.front());
    end(t);
  }
  EXPECT_LT(others.size(), 70'000U);
  end(first);
  table_.clear();
  flow_task& last = task();
  EXPECT_TRUE(enter(last, {at(0x100, 8, k_any_order)}).empty());
}

// Many small regions after a large one must not land on one place of the hash.
TEST_F(dependence_tables, small_regions_after_a_large_one) {
  enter(task(), {at(std::uintptr_t{1} << 40, std::size_t{1} << 30, k_in)});
  flow_task& t = task();
  for (std::uintptr_t i = 0; i < 20'000; ++i) enter(t, {at((std::uintptr_t{1} << 40) + 16 * i, 8, k_in)});
  EXPECT_GE(table_.segments(), 40'000U);
}

}  // namespace
}  // namespace shoal::sched
