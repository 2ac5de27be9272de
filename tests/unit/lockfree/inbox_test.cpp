// SPDX-License-Identifier: Apache-2.0
#include "lockfree/inbox.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace shoal::lockfree {
namespace {

struct task : inbox_node<> {
  explicit task(int n) : number(n) {}
  int number;
};

std::vector<int> take_numbers(inbox<>& from) {
  std::vector<int> numbers;
  for (inbox_node<>* node = from.take_all(); node != nullptr; node = node->next.read())
    numbers.push_back(static_cast<task*>(node)->number);
  return numbers;
}

TEST(inbox, starts_empty) {
  inbox<> box;
  EXPECT_TRUE(box.empty());
  EXPECT_EQ(box.take_all(), nullptr);
}

TEST(inbox, the_first_push_finds_it_empty) {
  inbox<> box;
  task a(1), b(2), c(3);
  EXPECT_TRUE(box.push(&a));
  EXPECT_FALSE(box.empty());
  EXPECT_FALSE(box.push(&b));
  EXPECT_EQ(take_numbers(box), (std::vector<int>{1, 2}));
  EXPECT_TRUE(box.empty());
  EXPECT_TRUE(box.push(&c));
  EXPECT_EQ(take_numbers(box), std::vector<int>{3});
}

TEST(inbox, gives_all_in_the_order_of_their_coming) {
  inbox<> box;
  std::vector<task> tasks;
  std::vector<int> expected;
  for (int i = 0; i < 1000; ++i) {
    tasks.emplace_back(i);
    expected.push_back(i);
  }
  for (task& t : tasks) box.push(&t);
  EXPECT_EQ(take_numbers(box), expected);
  EXPECT_EQ(box.take_all(), nullptr);
}

TEST(inbox, a_node_may_come_again) {
  inbox<> box;
  task a(1), b(2);
  for (int i = 0; i < 3; ++i) {
    box.push(&a);
    box.push(&b);
    EXPECT_EQ(take_numbers(box), (std::vector<int>{1, 2}));
  }
}

}  // namespace
}  // namespace shoal::lockfree
