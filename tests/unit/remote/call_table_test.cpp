// SPDX-License-Identifier: Apache-2.0
#include "remote/call_table.hpp"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace shoal::remote {
namespace {

pending_call to_node(std::uint32_t node, std::uint64_t* answer = nullptr) {
  return {.calls = nullptr, .answer = answer, .answer_words = answer == nullptr ? 0U : 1U, .node = node};
}

TEST(call_table, a_call_is_taken_once_and_only_by_the_node_that_was_called) {
  node_calls calls(3);
  std::uint64_t room = 0;
  const std::uint64_t name = calls.of(2).add(to_node(4, &room));
  EXPECT_FALSE(calls.take(name + (std::uint64_t{1} << 40), 4));
  const auto taken = calls.take(name, 4);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->answer, &room);
  EXPECT_EQ(taken->answer_words, 1U);
  EXPECT_FALSE(calls.take(name, 4));
  EXPECT_FALSE(calls.take(calls.of(0).add(to_node(1)), 2));
}

TEST(call_table, names_that_nobody_gave_are_refused) {
  node_calls calls(2);
  const std::uint64_t name = calls.of(1).add(to_node(0));
  for (std::uint64_t bit = 0; bit < 64; ++bit) EXPECT_FALSE(calls.take(name ^ std::uint64_t{1} << bit, 0)) << bit;
  for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}, name & 0x3ffffffff})
    EXPECT_FALSE(calls.take(wrong, 0));
  EXPECT_TRUE(calls.take(name, 0));
}

TEST(call_table, it_grows_with_what_is_in_flight_and_names_are_not_used_again) {
  call_table calls(5);
  std::set<std::uint64_t> all;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::uint64_t> names;
    for (int i = 0; i < 1000; ++i) names.push_back(calls.add(to_node(1)));
    for (const std::uint64_t name : names) {
      EXPECT_EQ(call_table::worker_of(name), 5U);
      EXPECT_TRUE(all.insert(name).second);
      EXPECT_TRUE(calls.take(name, 1));
    }
  }
  EXPECT_EQ(all.size(), 3000U);
}

TEST(call_table, others_take_while_its_worker_adds) {
  constexpr int k_calls = 100'000;
  call_table calls(0);
  std::vector<std::uint64_t> answers(k_calls);
  lockfree::inbox<> sent;
  struct letter : lockfree::inbox_node<> {
    std::uint64_t name = 0;
  };
  std::vector<letter> letters(k_calls);
  std::thread other([&] {
    for (int left = k_calls; left > 0;) {
      auto* at = static_cast<letter*>(sent.take_all());
      if (at == nullptr) std::this_thread::yield();
      while (at != nullptr) {
        auto* const next = static_cast<letter*>(at->next.read());
        const auto c = calls.take(at->name, 7);
        ASSERT_TRUE(c);
        *c->answer += 1;
        --left;
        at = next;
      }
    }
  });
  for (int i = 0; i < k_calls; ++i) {
    letters[i].name = calls.add(to_node(7, &answers[i]));
    sent.push(&letters[i]);
  }
  other.join();
  for (const std::uint64_t a : answers) ASSERT_EQ(a, 1U);
}

}  // namespace
}  // namespace shoal::remote
