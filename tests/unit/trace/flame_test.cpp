// SPDX-License-Identifier: Apache-2.0
#include "trace/flame.hpp"

#include <gtest/gtest.h>

namespace shoal::trace {
namespace {

// main calls work and rest; work calls itself.
timeline sampled() {
  timeline t;
  t.words = {"", "main", "work", "rest; of it"};
  t.stacks = {{{1}, 1, 1'000'000}, {{1, 2}, 2, 2'000'000}, {{1, 2, 2}, 3, 3'000'000}, {{1, 3}, 4, 4'000'000}};
  return t;
}

TEST(flame, a_function_has_the_time_of_what_it_calls) {
  const flame_node all = make_flame(sampled());
  EXPECT_EQ(all.ns, 10'000'000U);
  EXPECT_EQ(all.self_ns, 0U);
  const flame_node& of_main = all.calls.at(1);
  EXPECT_EQ(of_main.ns, 10'000'000U);
  EXPECT_EQ(of_main.self_ns, 1'000'000U);
  EXPECT_EQ(of_main.calls.at(2).ns, 5'000'000U);
  EXPECT_EQ(of_main.calls.at(2).calls.at(2).self_ns, 3'000'000U);
  EXPECT_EQ(of_main.calls.at(3).ns, 4'000'000U);
}

TEST(flame, text_counts_a_function_that_calls_itself_once) {
  const std::string text = flame_text(sampled());
  EXPECT_NE(text.find("10 samples"), std::string::npos) << text;
  const std::string line = text.substr(text.find("\nwork") + 1);
  EXPECT_NE(line.substr(0, line.find('\n')).find("50.00%      5.00 ms"), std::string::npos) << text;
}

TEST(flame, folded_stacks_are_a_line_each) {
  EXPECT_EQ(folded_stacks(sampled()), "main 1000\nmain;work 2000\nmain;work;work 3000\nmain;rest: of it 4000\n");
}

TEST(flame, there_is_nothing_without_samples) {
  EXPECT_EQ(flame_text({}), "");
  EXPECT_EQ(flame_data({}), "");
  EXPECT_EQ(folded_stacks({}), "");
}

}  // namespace
}  // namespace shoal::trace
