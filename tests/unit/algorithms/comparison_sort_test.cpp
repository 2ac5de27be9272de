// SPDX-License-Identifier: Apache-2.0
#include "shoal/detail/comparison_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "shoal/detail/merge_parts.hpp"
#include "shoal/detail/sort_local.hpp"
#include "shoal/pool.hpp"
#include "shoal/random.hpp"
#include "shoal/sort.hpp"
#include "unit/rounds.hpp"

namespace shoal::detail {
namespace {

struct record {
  std::uint32_t key;
  std::uint32_t place;
  bool operator==(const record&) const = default;
};
struct by_key {
  bool operator()(const record& a, const record& b) const noexcept { return a.key < b.key; }
};

std::vector<record> records(std::size_t count, std::uint64_t different) {
  std::vector<record> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = {static_cast<std::uint32_t>(different == 0 ? i : mix64(i) % different), static_cast<std::uint32_t>(i)};
  return all;
}

TEST(comparison_sort, is_stable_for_every_size_and_number_of_different_elements) {
  for (const unsigned workers : {1U, 3U}) {
    pool p(workers);
    p.run([] {
      for (const std::size_t count :
           {0, 1, 2, 23, 24, 25, 47, 48, 49, 96, 97, 1000, 32767, 32768, 50'000, rounds(300'000, 70'000)})
        for (const std::uint64_t different : {0, 1, 2, 100, 1 << 30}) {
          auto all = records(count, different);
          auto wanted = all;
          std::stable_sort(wanted.begin(), wanted.end(), by_key{});
          sort_here(columns<record, no_value>{all.data()}, count, local_comparison<record, by_key>{});
          ASSERT_TRUE(all == wanted) << count << " records, " << different << " different";
          // The same records as keys, which are not compared by their places, and values.
          std::vector<std::uint64_t> values(count);
          for (std::size_t i = 0; i < count; ++i) values[i] = std::uint64_t{all[i].place} << 32 | all[i].key;
          auto keys = records(count, different);
          std::vector<std::uint64_t> beside(count);
          for (std::size_t i = 0; i < count; ++i) beside[i] = std::uint64_t{keys[i].place} << 32 | keys[i].key;
          sort_here(columns<record, std::uint64_t>{keys.data(), beside.data()}, count,
                    local_comparison<record, by_key, std::uint64_t>{});
          ASSERT_TRUE(keys == wanted && beside == values) << count << " pairs, " << different << " different";
        }
    });
  }
}

TEST(comparison_sort, orders_as_the_comparison_says) {
  pool p(2);
  p.run([] {
    std::vector<double> x(100'000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(mix64(i) % 1000) - 500;
    sort_here(columns<double, no_value>{x.data()}, x.size(), local_comparison<double, std::greater<>>{});
    EXPECT_TRUE(std::is_sorted(x.begin(), x.end(), std::greater<>{}));
  });
}

TEST(sort, takes_spans_of_keys_values_and_records) {
  pool p(2);
  p.run([] {
    std::vector<std::int32_t> keys{3, -1, 2};
    std::vector<std::string> names{"three", "minus one", "two"};
    std::vector<const std::string*> values{&names[0], &names[1], &names[2]};
    shoal::sort_by_key(keys, std::span(values));
    EXPECT_EQ(keys, (std::vector<std::int32_t>{-1, 2, 3}));
    EXPECT_EQ(*values[0] + *values[1] + *values[2], "minus onetwothree");
    shoal::sort(std::span(keys), std::greater<>{});
    EXPECT_EQ(keys, (std::vector<std::int32_t>{3, 2, -1}));
    shoal::sort(std::span(keys));
    EXPECT_EQ(keys, (std::vector<std::int32_t>{-1, 2, 3}));
  });
}

TEST(comparison_sort, merges_with_values) {
  std::vector<std::uint32_t> a{1, 3, 3, 9};
  std::vector<std::uint32_t> b{0, 3, 4};
  std::vector<char> of_a{'a', 'b', 'c', 'd'};
  std::vector<char> of_b{'A', 'B', 'C'};
  std::vector<std::uint32_t> keys(7);
  std::vector<char> values(7);
  using pair = columns<std::uint32_t, char>;
  merge_runs(pair{a.data(), of_a.data()}, 4, pair{b.data(), of_b.data()}, 3, pair{keys.data(), values.data()},
             radix_less{});
  EXPECT_EQ(keys, (std::vector<std::uint32_t>{0, 1, 3, 3, 3, 4, 9}));
  EXPECT_EQ(std::string(values.begin(), values.end()), "AabcBCd");
}

TEST(merge_parts, is_stable_for_every_number_of_runs) {
  pool p(2);
  p.run([] {
    for (const std::size_t runs : {1, 2, 3, 5, 8})
      for (const bool to_spare : {false, true}) {
        std::vector<std::uint64_t> bounds{0};
        for (std::size_t r = 0; r < runs; ++r) bounds.push_back(bounds.back() + 1 + mix64(r) % 40'000);
        auto all = records(bounds.back(), 1000);
        auto wanted = all;
        for (std::size_t r = 0; r < runs; ++r) std::stable_sort(&all[0] + bounds[r], &all[0] + bounds[r + 1], by_key{});
        std::stable_sort(wanted.begin(), wanted.end(), by_key{});
        std::vector<record> spare(all.size());
        using alone = columns<record, no_value>;
        merge_parts(alone{all.data()}, alone{spare.data()}, bounds, to_spare, by_key{});
        EXPECT_TRUE((to_spare ? spare : all) == wanted) << runs << " runs";
      }
  });
}

}  // namespace
}  // namespace shoal::detail
