// SPDX-License-Identifier: Apache-2.0
#include "cluster/node_promises.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "shoal/error.hpp"

namespace shoal::cluster {
namespace {

node_promises::shared_result value(std::uint64_t word) {
  return std::make_shared<const node_promises::result>(node_promises::result{{word}, nullptr});
}

TEST(node_promises, keeps_who_asks_until_the_value_is_there) {
  node_promises all(3);
  const std::uint64_t a = all.make();
  EXPECT_EQ(all.ask(a, {1, 10}), nullptr);
  EXPECT_EQ(all.ask(a, {2, 20}), nullptr);
  const auto woken = all.set(a, value(5));
  ASSERT_EQ(woken.size(), 2U);
  EXPECT_EQ(woken[1].node, 2U);
  EXPECT_EQ(woken[1].name, 20U);
  EXPECT_EQ(all.ask(a, {1, 11})->words, (std::vector<std::uint64_t>{5}));
  EXPECT_THROW(all.set(a, value(6)), error);
  EXPECT_TRUE(all.free(a).empty());
  EXPECT_EQ(all.size(), 0U);
}

TEST(node_promises, names_what_was_freed_and_gives_no_number_twice) {
  node_promises all(3);
  const std::uint64_t a = all.make();
  all.ask(a, {1, 10});
  EXPECT_EQ(all.free(a).size(), 1U);
  EXPECT_TRUE(all.free(a).empty());
  EXPECT_NE(all.make(), a);
  try {
    all.ask(a, {1, 10});
    FAIL() << "nothing was refused";
  } catch (const error& e) {
    EXPECT_EQ(e.code(), errc::not_found);
    EXPECT_EQ(std::string(e.what()).find("global promise 1 of node 3 is used after it was freed"), 0U) << e.what();
  }
}

}  // namespace
}  // namespace shoal::cluster
