// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/element_access.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

namespace shoal::detail {
namespace {

template <class T>
class element_access : public testing::Test {};
using types = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                             std::int32_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(element_access, types);

// What each verb leaves and gives, the same whether it is done atomically or plainly.
template <bool Exclusive, class T>
void check_verbs() {
  const auto v = [](int x) { return static_cast<T>(x); };
  T at = v(5);
  EXPECT_EQ((access<verb::get, Exclusive>(at, T{})), v(5));
  access<verb::put, Exclusive>(at, v(9));
  EXPECT_EQ(at, v(9));
  access<verb::add, Exclusive>(at, v(3));
  EXPECT_EQ(at, v(12));
  EXPECT_EQ((access<verb::fetch_add, Exclusive>(at, v(4))), v(12));
  EXPECT_EQ(at, v(16));
  EXPECT_EQ((access<verb::exchange, Exclusive>(at, v(40))), v(16));
  EXPECT_EQ((access<verb::fetch_min, Exclusive>(at, v(50))), v(40));
  EXPECT_EQ(at, v(40));
  EXPECT_EQ((access<verb::fetch_min, Exclusive>(at, v(30))), v(40));
  EXPECT_EQ(at, v(30));
  EXPECT_EQ((access<verb::fetch_max, Exclusive>(at, v(20))), v(30));
  EXPECT_EQ(at, v(30));
  EXPECT_EQ((access<verb::fetch_max, Exclusive>(at, v(60))), v(30));
  EXPECT_EQ(at, v(60));
  EXPECT_EQ((access<verb::compare_exchange, Exclusive>(at, v(59), v(1))), v(60));
  EXPECT_EQ(at, v(60));
  EXPECT_EQ((access<verb::compare_exchange, Exclusive>(at, v(60), v(7))), v(60));
  EXPECT_EQ(at, v(7));
  EXPECT_FALSE((access_and_test<verb::test_min, Exclusive>(at, v(7))));
  EXPECT_TRUE((access_and_test<verb::test_max, Exclusive>(at, v(8))));
  EXPECT_FALSE((access_and_test<verb::test_max, Exclusive>(at, v(8))));
  EXPECT_TRUE((access_and_test<verb::test_min, Exclusive>(at, v(7))));
  EXPECT_EQ(at, v(7));
  if constexpr (std::is_integral_v<T>) {
    EXPECT_EQ((access<verb::fetch_or, Exclusive>(at, v(8))), v(7));
    EXPECT_EQ(at, v(15));
    EXPECT_EQ((access<verb::fetch_and, Exclusive>(at, v(6))), v(15));
    EXPECT_EQ(at, v(6));
    EXPECT_EQ((access<verb::fetch_xor, Exclusive>(at, v(12))), v(6));
    EXPECT_EQ(at, v(10));
    access<verb::bit_xor, Exclusive>(at, v(12));
    EXPECT_FALSE((access_and_test<verb::test_or, Exclusive>(at, v(2))));
    EXPECT_TRUE((access_and_test<verb::test_or, Exclusive>(at, v(9))));
    EXPECT_EQ(at, v(15));
    EXPECT_FALSE((access_and_test<verb::test_and, Exclusive>(at, v(31))));
    EXPECT_TRUE((access_and_test<verb::test_and, Exclusive>(at, v(22))));
    EXPECT_EQ(at, v(6));
    at = std::numeric_limits<T>::max();
    access<verb::add, Exclusive>(at, v(1));  // wraps around, signed ones too
    EXPECT_EQ(at, std::numeric_limits<T>::lowest());
  }
  if constexpr (std::is_signed_v<T>) {
    at = v(3);
    access<verb::min, Exclusive>(at, v(-5));
    EXPECT_EQ(at, v(-5));
    access<verb::max, Exclusive>(at, v(-2));
    EXPECT_EQ(at, v(-2));
  }
}

TYPED_TEST(element_access, verbs_do_what_they_say_atomically) { check_verbs<false, TypeParam>(); }
TYPED_TEST(element_access, verbs_do_what_they_say_plainly) { check_verbs<true, TypeParam>(); }

TYPED_TEST(element_access, additions_and_maxima_of_threads_are_not_lost) {
  using T = TypeParam;
  constexpr int k_threads = 3;
  constexpr int k_each = 5000;
  T sum{};
  T largest{};
  std::vector<std::thread> team;
  for (int t = 0; t < k_threads; ++t)
    team.emplace_back([&, t] {
      for (int i = 0; i < k_each; ++i) {
        access<verb::add, false>(sum, T{1});
        access<verb::max, false>(largest, static_cast<T>((i * k_threads + t) % 120));
        if (i % 512 == 0) std::this_thread::yield();
      }
    });
  for (auto& t : team) t.join();
  EXPECT_EQ(sum, static_cast<T>(k_threads * k_each));
  EXPECT_EQ(largest, static_cast<T>(119));
}

TEST(copy_elements, copies_all_bytes_for_each_unit_and_rest) {
  std::vector<std::uint64_t> from(65);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = 0x0102030405060708U * (i + 1);
  for (const unsigned unit : {0U, 1U, 2U, 4U, 8U}) {
    const std::uint64_t step = unit == 0 ? 1 : unit;
    for (std::uint64_t bytes = 0; bytes <= 520; bytes += step) {
      std::vector<std::uint64_t> to(65, 0xeeeeeeeeeeeeeeeeU);
      copy_elements(to.data(), from.data(), bytes, unit);
      const auto* got = reinterpret_cast<const unsigned char*>(to.data());
      const auto* want = reinterpret_cast<const unsigned char*>(from.data());
      ASSERT_TRUE(std::equal(got, got + bytes, want)) << unit << " " << bytes;
      ASSERT_TRUE(std::all_of(got + bytes, got + 520, [](unsigned char c) { return c == 0xee; }))
          << unit << " " << bytes;
    }
  }
}

TEST(copy_elements, elements_do_not_tear) {
  constexpr std::size_t k_words = 64;
  std::vector<std::uint64_t> shared(k_words);
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    std::vector<std::uint64_t> pattern(k_words);
    for (std::uint64_t round = 1; !stop.load(); ++round) {
      for (auto& w : pattern) w = (round & 0xff) * 0x0101010101010101U;
      copy_elements(shared.data(), pattern.data(), k_words * 8, 8);
      if (round % 16 == 0) std::this_thread::yield();
    }
  });
  int torn = 0;
  std::vector<std::uint64_t> seen(k_words);
  for (int round = 0; round < 20'000; ++round) {
    copy_elements(seen.data(), shared.data(), k_words * 8, 8);
    for (const std::uint64_t w : seen) torn += w == (w & 0xff) * 0x0101010101010101U ? 0 : 1;
    if (round % 64 == 0) std::this_thread::yield();
  }
  stop.store(true);
  writer.join();
  EXPECT_EQ(torn, 0);
}

// What would differ by the way an access takes, or not compile, bool does not have.
TEST(verbs, of_each_type) {
  EXPECT_TRUE((k_has_verb<verb::put, bool> && k_has_verb<verb::get, bool> && k_has_verb<verb::exchange, bool> &&
               k_has_verb<verb::compare_exchange, bool> && k_has_verb<verb::max, bool>));
  EXPECT_FALSE((k_has_verb<verb::add, bool> || k_has_verb<verb::fetch_add, bool> || k_has_verb<verb::bit_and, bool> ||
                k_has_verb<verb::bit_or, bool> || k_has_verb<verb::fetch_and, bool> ||
                k_has_verb<verb::fetch_or, bool> || k_has_verb<verb::fetch_xor, bool> ||
                k_has_verb<verb::test_or, bool>));
  EXPECT_TRUE((k_has_verb<verb::add, double> && k_has_verb<verb::bit_or, char> && k_has_verb<verb::add, char>));
  EXPECT_FALSE((k_has_verb<verb::bit_or, float>));
}

TEST(copy_unit, is_the_size_of_elements_that_may_not_tear) {
  struct pair {
    std::uint32_t a, b;
  };
  EXPECT_EQ(copy_unit<std::uint64_t>(), 8U);
  EXPECT_EQ(copy_unit<std::uint16_t>(), 2U);
  EXPECT_EQ(copy_unit<char>(), 0U);
  EXPECT_EQ(copy_unit<pair>(), 0U);
}

}  // namespace
}  // namespace shoal::detail
