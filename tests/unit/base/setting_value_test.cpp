// SPDX-License-Identifier: Apache-2.0
#include "base/setting_value.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "shoal/random.hpp"

namespace {

using namespace shoal::base;

TEST(setting_value, booleans) {
  for (const auto* word : {"on", "TRUE", "Yes", "1"}) EXPECT_EQ(parse_bool(word), true) << word;
  for (const auto* word : {"off", "False", "no", "0"}) EXPECT_EQ(parse_bool(word), false) << word;
  for (const auto* word : {"", "2", "onn", "yes please", " on"}) EXPECT_FALSE(parse_bool(word)) << word;
}

TEST(setting_value, integers) {
  EXPECT_EQ(parse_int("-12"), -12);
  EXPECT_EQ(parse_int("+12"), 12);
  EXPECT_EQ(parse_int("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const auto* word : {"", "1.5", "1 ", "+-1", "+", "9223372036854775808", "0x10", "1K"}) {
    EXPECT_FALSE(parse_int(word)) << word;
  }
}

TEST(setting_value, sizes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("4096"), 4096u);
  EXPECT_EQ(parse_size("64K"), 65536u);
  EXPECT_EQ(parse_size("64KiB"), 65536u);
  EXPECT_EQ(parse_size("2m"), 2u << 20);
  for (const auto* word : {"64kb", "64kib", "64KB", "64KIB", "64kB"}) EXPECT_EQ(parse_size(word), 65536u) << word;
  EXPECT_EQ(parse_size("1GB"), 1u << 30);
  EXPECT_EQ(parse_size("3T"), 3ull << 40);
  EXPECT_EQ(parse_size("7B"), 7u);
  EXPECT_EQ(parse_size("16777215T"), 16777215ull << 40);
  for (const auto* word :
       {"", "K", "-1", "1.5G", "64 K", "64KK", "64Ki", "7BB", "1KiBs", "1P", "16777216T", "18446744073709551616"}) {
    EXPECT_FALSE(parse_size(word)) << word;
  }
}

TEST(setting_value, reals) {
  EXPECT_EQ(parse_real("0.5"), 0.5);
  EXPECT_EQ(parse_real("-1e3"), -1000.0);
  for (const auto* word : {"", "inf", "nan", "1.5x", "half"}) EXPECT_FALSE(parse_real(word)) << word;
}

TEST(setting_value, times) {
  EXPECT_EQ(parse_time_ns("500"), 500);
  EXPECT_EQ(parse_time_ns("0ns"), 0);
  EXPECT_EQ(parse_time_ns("20us"), 20e3);
  EXPECT_EQ(parse_time_ns("1.5ms"), 1.5e6);
  EXPECT_EQ(parse_time_ns("2s"), 2e9);
  for (const auto* word : {"", "s", "ms", "-1", "-1us", "nan", "1h", "1 ms", "inf"})
    EXPECT_FALSE(parse_time_ns(word)) << word;
}

TEST(setting_value, ranges) {
  const setting size{"stack", setting_type::size, "64K", "", "16K", "1M"};
  EXPECT_TRUE(is_acceptable(size, "16384"));
  EXPECT_TRUE(is_acceptable(size, "1M"));
  EXPECT_FALSE(is_acceptable(size, "16383"));
  EXPECT_FALSE(is_acceptable(size, "2M"));
  EXPECT_EQ(describe_range(size), "a size such as 4096, 64K, 2M or 1G, from 16K to 1M");
  const setting open{"age", setting_type::real, "1", "", "0"};
  EXPECT_TRUE(is_acceptable(open, "1e9"));
  EXPECT_FALSE(is_acceptable(open, "-0.1"));
  EXPECT_EQ(describe_range(open), "a number, at least 0");
  const setting choice{
      .name = "wait", .type = setting_type::choice, .default_value = "park", .help = "", .choices = "spin|park"};
  EXPECT_TRUE(is_acceptable(choice, "spin"));
  EXPECT_FALSE(is_acceptable(choice, "spi"));
  EXPECT_FALSE(is_acceptable(choice, "spin|park"));
  EXPECT_FALSE(is_acceptable(choice, ""));
  EXPECT_EQ(describe_range(choice), "one of spin, park");
}

TEST(setting_value, edit_distances) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("workers", "wrokers"), 1u);  // neighbours exchanged
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(setting_value, nearest) {
  EXPECT_EQ(nearest_name("WROKERS", {"stack", "workers", "nodes"}), "workers");
  EXPECT_EQ(nearest_name("stack_size", {"stack", "workers"}), "");
  EXPECT_EQ(nearest_name("stacks", {"stack", "workers"}), "stack");
  EXPECT_EQ(nearest_name("zzzz", {"stack", "workers"}), "");
}

}  // namespace
