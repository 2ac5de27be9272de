// SPDX-License-Identifier: Apache-2.0
#include "bench/problems/wordcount/kernel.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace problems::wordcount {
namespace {

TEST(problem_wordcount, the_vocabulary_has_no_word_twice) {
  const auto words = make_vocabulary(problem::k_vocabulary);
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
}

TEST(problem_wordcount, frequent_words_are_frequent_as_zipf_says) {
  const text t = make_text(400, 400, 1000, 1);
  EXPECT_NEAR(static_cast<double>(t.written[0]) / static_cast<double>(t.written[1]), 2, 0.2);
  EXPECT_NEAR(static_cast<double>(t.written[0]) / static_cast<double>(t.written[9]), 10, 2);
}

TEST(problem_wordcount, counts_what_was_written_however_the_lines_are_divided) {
  const problem p(300);
  EXPECT_TRUE(p.valid(count_serially(p.input)));
  for (std::size_t share : {1U, 7U, 299U}) {
    table all;
    for (std::size_t first = 0; first < p.input.lines; first += share) {
      table counted;
      count_lines(p.input, first, std::min(first + share, p.input.lines), counted);
      all.merge(std::move(counted));
    }
    EXPECT_TRUE(p.valid(all)) << share;
    EXPECT_EQ(p.work(all), p.work(count_serially(p.input)));
  }
}

TEST(problem_wordcount, the_check_finds_a_line_left_out_a_line_twice_and_a_word_too_many) {
  const problem p(300);
  table counted;
  count_lines(p.input, 0, 299, counted);
  EXPECT_FALSE(p.valid(counted));
  count_lines(p.input, 299, 300, counted);
  EXPECT_TRUE(p.valid(counted));
  table twice = counted;
  count_lines(p.input, 299, 300, twice);
  EXPECT_FALSE(p.valid(twice));
  counted.add("zzz", 12345, 1);
  EXPECT_FALSE(p.valid(counted));
}

}  // namespace
}  // namespace problems::wordcount
