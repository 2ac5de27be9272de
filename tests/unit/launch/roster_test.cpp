// SPDX-License-Identifier: Apache-2.0
#include "launch/roster.hpp"

#include <gtest/gtest.h>

namespace shoal::launch {
namespace {

hello_message hello(std::uint32_t node, std::uint32_t nodes = 3) {
  return {node, nodes, {100 + node, "host"}, "code", "workers 1"};
}

TEST(roster, nodes_come_once_and_the_missing_are_known) {
  roster r(3);
  EXPECT_FALSE(r.come(hello(1)));
  EXPECT_EQ(r.missing(), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(r.describe(1), "node 1 (host host, process 101)");
  EXPECT_EQ(r.describe(0), "node 0");
  const auto twice = r.come(hello(1));
  ASSERT_TRUE(twice);
  EXPECT_NE(twice->why.find("node 1 has been started already"), std::string::npos) << twice->why;
  EXPECT_FALSE(r.come(hello(0)));
  EXPECT_FALSE(r.complete());
  EXPECT_FALSE(r.come(hello(2)));
  EXPECT_TRUE(r.complete());
}

TEST(roster, what_does_not_fit_is_named) {
  roster r(3);
  EXPECT_NE(r.come(hello(0, 4))->why.find("node 0 of 4 in a job of 3"), std::string::npos);
  EXPECT_NE(r.come(hello(3))->why.find("node 3 of 3"), std::string::npos);
  EXPECT_FALSE(r.come(hello(0)));
  hello_message other = hello(1);
  other.code = "other";
  EXPECT_NE(r.come(other)->why.find("node 1 runs another program"), std::string::npos);
  other = hello(2);
  other.settings = "workers 2";
  const auto refused = r.come(other);
  EXPECT_NE(refused->why.find("node 2 was started with other settings (workers 2) than node 0 (workers 1)"),
            std::string::npos);
  EXPECT_EQ(refused->code, errc::mismatch);
}

TEST(roster, parts_are_kept_until_all_are_there) {
  roster r(2);
  EXPECT_FALSE(r.any_given());
  EXPECT_TRUE(r.give(1, {std::byte{1}}));
  EXPECT_FALSE(r.give(1, {}));
  EXPECT_TRUE(r.any_given());
  EXPECT_FALSE(r.all_given());
  EXPECT_TRUE(r.give(0, {}));
  ASSERT_TRUE(r.all_given());
  const auto parts = r.take_parts();
  EXPECT_TRUE(parts[0].empty());
  EXPECT_EQ(parts[1].size(), 1U);
  EXPECT_FALSE(r.any_given());
  EXPECT_TRUE(r.give(1, {}));
}

}  // namespace
}  // namespace shoal::launch
