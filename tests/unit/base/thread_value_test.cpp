// SPDX-License-Identifier: Apache-2.0
#include "base/thread_value.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>

namespace shoal::base {
namespace {

struct pair_of_test {
  int first = 7;
  int second = 8;
};
thread_local pair_of_test t_pair_of_test;
const thread_value k_pair_of_test(+[]() noexcept { return &t_pair_of_test; });

TEST(thread_value, is_found_among_all) {
  const auto all = thread_values();
  EXPECT_EQ(std::ranges::count(all, &k_pair_of_test), 1);
  EXPECT_LE(all.size(), thread_value::k_most);
}

TEST(thread_value, lies_where_the_calling_thread_has_it) {
  EXPECT_EQ(k_pair_of_test.here(), &t_pair_of_test);
  EXPECT_EQ(k_pair_of_test.bytes(), sizeof(pair_of_test));
  void* elsewhere = nullptr;
  std::thread([&] { elsewhere = k_pair_of_test.here(); }).join();
  EXPECT_NE(elsewhere, k_pair_of_test.here());
}

TEST(thread_value, a_fresh_thread_has_the_initial_value) {
  t_pair_of_test.first = 100;
  alignas(pair_of_test) std::array<std::byte, sizeof(pair_of_test)> fresh;
  k_pair_of_test.initialize(fresh.data());
  pair_of_test got;
  std::memcpy(static_cast<void*>(&got), fresh.data(), sizeof got);
  EXPECT_EQ(got.first, 7);
  EXPECT_EQ(got.second, 8);
  t_pair_of_test.first = 7;
}

}  // namespace
}  // namespace shoal::base
