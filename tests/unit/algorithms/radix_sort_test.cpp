// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/sort_local.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/pool.hpp"
#include "shoal/random.hpp"
#include "unit/rounds.hpp"

namespace shoal::detail {
namespace {

template <class Key>
Key key_of(std::uint64_t bits) {
  Key key;
  std::memcpy(&key, &bits, sizeof(Key));
  return key;
}
/// Element i of data set `set`: the AND of set + 1 random words; 5: all zero; 6: few different; 7: in order.
std::uint64_t word(std::size_t i, unsigned set) {
  if (set == 5) return 0;
  if (set == 6) return mix64(i) % 3 * 0x0101010101010101u;
  if (set == 7) return i;
  std::uint64_t w = ~std::uint64_t{0};
  for (unsigned k = 0; k <= set; ++k) w &= splitmix64::at(k + 1, i);
  return w;
}
template <class Key>
std::vector<Key> keys_of(std::size_t count, unsigned set) {
  std::vector<Key> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = key_of<Key>(word(i, set));
  return keys;
}

/// Sorts with values that are the positions before, and compares with std::stable_sort.
template <class Key, class Value>
void check(const std::vector<Key>& given, std::size_t skip = 0) {
  using place = std::pair<Key, std::size_t>;
  std::vector<place> wanted;
  for (std::size_t i = skip; i < given.size(); ++i) wanted.emplace_back(given[i], i);
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const place& a, const place& b) { return radix_less{}(a.first, b.first); });
  // No vectors: one of bool has no elements in memory.
  const auto alone = std::make_unique<Key[]>(given.size());
  const auto keys = std::make_unique<Key[]>(given.size());
  std::copy(given.begin(), given.end(), alone.get());
  std::copy(given.begin(), given.end(), keys.get());
  std::vector<Value> values(given.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = Value(i);
  const std::size_t count = given.size() - skip;
  sort_here(columns<Key, no_value>{alone.get() + skip}, count, local_radix<Key>{});
  sort_here(columns<Key, Value>{keys.get() + skip, values.data() + skip}, count, local_radix<Key, Value>{});
  for (std::size_t i = 0; i < count; ++i) {
    const auto bits = ordered_bits(wanted[i].first);
    ASSERT_EQ(ordered_bits(alone[skip + i]), bits) << i << " of " << count;
    ASSERT_EQ(ordered_bits(keys[skip + i]), bits) << i << " of " << count;
    ASSERT_TRUE(values[skip + i] == Value(wanted[i].second)) << i << " of " << count;
  }
}

/// Values that no line of 64 bytes is full of, at addresses that are no multiple of their size.
struct odd {
  std::uint32_t at[3] = {};
  odd() = default;
  explicit odd(std::size_t i) noexcept : at{static_cast<std::uint32_t>(i), 1, 2} {}
  bool operator==(const odd&) const = default;
};
struct halves {
  std::uint32_t at[2] = {};
  halves() = default;
  explicit halves(std::size_t i) noexcept : at{static_cast<std::uint32_t>(i), 7} {}
  bool operator==(const halves&) const = default;
};

template <class Key>
class radix_sort : public testing::Test {
protected:
  template <class F>
  static void in_pool(unsigned workers, const F& f) {
    pool p(workers);
    p.run(f);
  }
};
using key_types = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                                 std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(radix_sort, key_types);

TYPED_TEST(radix_sort, sorts_every_type_size_and_data_set) {
  this->in_pool(3, [] {
    for (const std::size_t count : {0, 1, 2, 48, 49, 255, 1000, 4097, 65535, 65536, 100'001})
      for (unsigned set = 0; set < 8; ++set)
        if (count < rounds(5000U, 500U) || set % 5 == 1)
          check<TypeParam, std::uint32_t>(keys_of<TypeParam>(count, set));
  });
}

// Wide digits and buffered lines; borders of blocks and lines anywhere.
TYPED_TEST(radix_sort, sorts_large_arrays_that_begin_anywhere) {
  this->in_pool(2, [] {
    for (unsigned set = 0; set < rounds(8U, 1U); set += 3)
      check<TypeParam, std::uint64_t>(keys_of<TypeParam>((1 << 20) + 5, set), 3);
  });
}

TEST(radix_sort_order, is_missed_in_no_place) {
  pool p(2);
  p.run([] {
    constexpr std::size_t k_count = 70'001;  // two blocks
    for (const std::size_t at : {1, 4095, 4096, 4097, 8192, 35'000, 35'001, 35'002, 39'096, 39'097, 70'000}) {
      auto keys = keys_of<std::uint32_t>(k_count, 7);
      std::swap(keys[at - 1], keys[at]);
      check<std::uint32_t, std::uint32_t>(keys);
    }
  });
}

TEST(radix_sort_values, of_sizes_that_fill_no_line) {
  pool p(2);
  p.run([] {
    check<std::uint32_t, odd>(keys_of<std::uint32_t>((1 << 20) + 77, 0), 1);
    check<std::uint32_t, halves>(keys_of<std::uint32_t>((1 << 20) + 77, 1), 1);
    check<std::uint64_t, std::uint8_t>(keys_of<std::uint64_t>(200, 2));
  });
}

TEST(radix_sort_floats, are_in_the_total_order) {
  pool p(1);
  p.run([] {
    const double inf = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double least = std::numeric_limits<double>::denorm_min();
    std::vector<double> x{nan, 0.0, -0.0, inf, -inf, 1.5, -1.5, std::copysign(nan, -1.0), least, -least, -0.0, 0.0};
    check<double, std::uint32_t>(x);
    sort_here(columns<double, no_value>{x.data()}, x.size(), local_radix<double>{});
    EXPECT_TRUE(std::isnan(x.front()) && std::signbit(x.front()));
    EXPECT_EQ(x[1], -inf);
    EXPECT_TRUE(x[4] == 0 && std::signbit(x[4]) && std::signbit(x[5]) && !std::signbit(x[6]));
    EXPECT_TRUE(std::isnan(x.back()) && !std::signbit(x.back()));
    for (int i = 0; i < 100; ++i) x.insert(x.end(), {nan, -0.0, 0.0, -2.0, static_cast<double>(i)});
    check<double, std::uint32_t>(x);
  });
}

TEST(radix_sort_result, can_be_left_in_the_spare_memory) {
  pool p(2);
  p.run([] {
    for (const std::size_t count : {10, 1000, 300'000})
      for (unsigned set : {0U, 5U, 7U}) {
        const auto given = keys_of<std::uint32_t>(count, set);
        auto wanted = given;
        std::sort(wanted.begin(), wanted.end());
        auto data = given;
        std::vector<std::uint32_t> spare(count);
        radix_sorter<std::uint32_t, no_value> sorter(count);
        scratch_memory room(sorter.room_bytes(), "sorting");
        sorter.run({data.data()}, {spare.data()}, room, true);
        EXPECT_EQ(spare, wanted) << count << ", data set " << set;
      }
  });
}

}  // namespace
}  // namespace shoal::detail
