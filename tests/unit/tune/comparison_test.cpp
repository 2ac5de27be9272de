// SPDX-License-Identifier: Apache-2.0
#include "tune/comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace shoal::tune {
namespace {

using values = std::vector<double>;

TEST(comparison, median_of_even_and_odd) {
  EXPECT_EQ(median(values{3, 1, 2}), 2);
  EXPECT_EQ(median(values{4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median(values{})));
}

TEST(comparison, pairs_that_agree_decide) {
  EXPECT_EQ(judge(values{1.0, 1.01, 0.99}, values{1.2, 1.21, 1.19}, true), verdict::better);
  EXPECT_EQ(judge(values{1.2, 1.21, 1.19}, values{1.0, 1.01, 0.99}, true), verdict::worse);
  EXPECT_EQ(judge(values{1.2, 1.21, 1.19}, values{1.0, 1.01, 0.99}, false), verdict::better);
  EXPECT_EQ(judge(values{1.0, 1.0001, 0.9999}, values{1.0, 0.9999, 1.0001}, true), verdict::equal);
}

TEST(comparison, few_or_noisy_pairs_leave_it_open) {
  EXPECT_EQ(judge(values{1.0}, values{1.05}, true), verdict::open);
  EXPECT_EQ(judge(values{1.0, 2.0, 1.5}, values{1.6, 1.2, 1.9}, true), verdict::open);
}

TEST(comparison, one_look_at_a_clearly_worse_one_is_enough) {
  EXPECT_EQ(judge(values{3.0}, values{1.0, 1.1}, true), verdict::worse);
  EXPECT_EQ(judge(values{3.0}, values{10.0, 9.8}, false), verdict::worse);
  EXPECT_EQ(judge(values{1.2}, values{1.0, 1.5}, true), verdict::open);
}

// The bounds of 95 % hold in about 95 of 100 cases.
TEST(comparison, the_bounds_are_as_wide_as_they_say) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.1);
  int inside = 0;
  for (int round = 0; round < 2000; ++round) {
    values a;
    values b;
    for (int i = 0; i < 5; ++i) {
      a.push_back(1.3 * std::exp(noise(random)));
      b.push_back(std::exp(noise(random)));
    }
    const ratio r = compare_pairs(a, b);
    if (r.low <= 1.3 && 1.3 <= r.high) ++inside;
  }
  EXPECT_GT(inside, 1860);
  EXPECT_LT(inside, 1940);
}

}  // namespace
}  // namespace shoal::tune
