// SPDX-License-Identifier: Apache-2.0
#include "tune/space.hpp"

#include <gtest/gtest.h>

#include <set>

#include "shoal/error.hpp"

namespace shoal::tune {
namespace {

using words = std::vector<std::string>;

TEST(space, ranges_become_lists) {
  EXPECT_EQ(parse_parameter("grain=1:16:log2").values, (words{"1", "2", "4", "8", "16"}));
  EXPECT_EQ(parse_parameter("grain=3:20:log2").values, (words{"3", "6", "12"}));
  EXPECT_EQ(parse_parameter("size=10:1000:log10").values, (words{"10", "100", "1000"}));
  EXPECT_EQ(parse_parameter("nodes=2:16:x2").values, parse_parameter("nodes=2:16:log2").values);
  EXPECT_EQ(parse_parameter("nodes=1:100:x4").values, (words{"1", "4", "16", "64"}));
  EXPECT_EQ(parse_parameter("size=1:10:x1.5").values.size(), 6U);
  EXPECT_EQ(parse_parameter("grain=10:30:+10").values, (words{"10", "20", "30"}));
  EXPECT_EQ(parse_parameter("depth=2:5").values, (words{"2", "3", "4", "5"}));
  EXPECT_EQ(parse_parameter("ratio=0.1:0.3:0.1").values, (words{"0.1", "0.2", "0.3"}));
  EXPECT_EQ(parse_parameter("tile=16,32").values, (words{"16", "32"}));
  EXPECT_EQ(parse_parameter("tile=16,32").numbers.size(), 2U);
  EXPECT_TRUE(parse_parameter("steal=random,nearest").numbers.empty());
  EXPECT_EQ(parse_parameter("url=a=b,c").values, (words{"a=b", "c"}));
}

TEST(space, what_is_no_parameter_is_refused) {
  for (const char* text :
       {"grain", "=1,2", "grain=", "grain=1,,2", "grain=5:1", "grain=a:b", "grain=0:8:log2", "grain=1:8:x1",
        "grain=1:8:x", "grain=1:8:x-2", "grain=1:8:+", "grain=1:8:+x2", "grain=1:2:x1.000001", "grain=1:8:-1",
        "grain=1:8:x", "grain=1:2:3:4", "grain=0:1e9:1", "grain=1,2,1"})
    EXPECT_THROW(parse_parameter(text), error) << text;
}

TEST(space, what_grows_by_a_factor_is_geometric) {
  for (const char* text : {"a=1:64:x2", "a=10:1000:log10", "a=2,4,8", "a=1:10:x1.5", "a=64,128,256,512"})
    EXPECT_TRUE(parse_parameter(text).is_geometric()) << text;
  for (const char* text : {"a=1:4", "a=1,2", "a=8,4,2", "a=x,y,z", "a=0,1,2", "a=1,2,4,7", "a=-4,-2,-1"})
    EXPECT_FALSE(parse_parameter(text).is_geometric()) << text;
}

TEST(space, points_have_numbers) {
  const space s({parse_parameter("a=1:3"), parse_parameter("b=x,y")}, {});
  EXPECT_EQ(s.size(), 6U);
  for (std::uint64_t i = 0; i < s.size(); ++i) EXPECT_EQ(s.number_of(s.at(i)), i);
  EXPECT_EQ(s.describe(s.at(5)), "a 3, b y");
}

TEST(space, constraints_leave_points_out) {
  const space s({parse_parameter("a=1:4"), parse_parameter("b=1:4")}, {expression("a * b <= 4"), expression("a <= b")});
  const auto all = s.all(100);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->size(), 5U);  // 1x1, 1x2, 1x3, 1x4, 2x2
  std::mt19937_64 random(1);
  std::set<point> seen;
  for (int i = 0; i < 200; ++i) seen.insert(s.random(random).value());
  EXPECT_EQ(seen.size(), 5U);
  EXPECT_FALSE(s.all(10).has_value());
  EXPECT_FALSE(space({parse_parameter("a=1:4")}, {expression("a > 9")}).random(random).has_value());
}

TEST(space, constraints_name_what_there_is) {
  EXPECT_THROW(space({parse_parameter("a=1:4")}, {expression("c > 1")}), error);
  EXPECT_THROW(space({parse_parameter("a=x,y")}, {expression("a > 1")}), error);
  EXPECT_THROW(space({parse_parameter("a=1:4"), parse_parameter("a=1:2")}, {}), error);
  EXPECT_THROW(space({}, {}), error);
}

TEST(space, distance_is_by_place_in_the_list) {
  const space s({parse_parameter("a=1:16:log2"), parse_parameter("b=x,y,z")}, {});
  EXPECT_DOUBLE_EQ(s.distance_squared({0, 0}, {4, 0}), 1);
  EXPECT_DOUBLE_EQ(s.distance_squared({0, 0}, {2, 0}), 0.25);
  EXPECT_DOUBLE_EQ(s.distance_squared({0, 0}, {0, 2}), 1);
}

TEST(space, a_huge_space_has_a_size) {
  std::vector<parameter> many;
  for (int i = 0; i < 30; ++i) many.push_back(parse_parameter("p" + std::to_string(i) + "=1:1000"));
  const space s(std::move(many), {});
  EXPECT_EQ(s.size(), std::uint64_t{1} << 63);
  EXPECT_FALSE(s.all(1000).has_value());
}

TEST(space, values_may_have_commas_in_parentheses) {
  EXPECT_EQ(parse_parameter("steal=nearest(50,3,1),random", parameter_kind::setting).values,
            (std::vector<std::string>{"nearest(50,3,1)", "random"}));
}

TEST(space, names_are_judged) {
  EXPECT_THROW(parse_parameter("A B=1,2", parameter_kind::environment), error);
  try {
    parse_parameter("a");
    ADD_FAILURE();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("no '='"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace shoal::tune
