// SPDX-License-Identifier: Apache-2.0
#include "bench/real_range.hpp"

#include <gtest/gtest.h>

namespace shoal::bench {
namespace {

TEST(real_range, takes_numbers_within_it_only) {
  double value = 0;
  CLI::App app;
  app.add_option("--seconds", value)->check(real_range(0.01, 10));
  EXPECT_NO_THROW(app.parse("--seconds 0.5"));
  EXPECT_EQ(value, 0.5);
  for (const char* const text :
       {"--seconds nan", "--seconds NaN", "--seconds -nan", "--seconds inf", "--seconds 11", "--seconds x"})
    EXPECT_THROW(app.parse(text), CLI::ParseError) << text;
}

}  // namespace
}  // namespace shoal::bench
