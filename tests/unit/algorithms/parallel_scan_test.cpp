// SPDX-License-Identifier: Apache-2.0
#include "shoal/parallel_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/pool.hpp"
#include "shoal/random.hpp"
#include "shoal/task.hpp"
#include "unit/rounds.hpp"

namespace shoal {
namespace {

constexpr unsigned k_scan_workers[] = {1, 2, 3, 8};
const std::vector<std::size_t> k_scan_sizes{0, 1, 2, 63, 64, 65, 2047, 2048, 2049, 50'000, rounds(700'000, 100'000)};

// 2 x 2 matrices modulo a prime: associative, not commutative.
struct matrix {
  std::array<std::uint32_t, 4> m{1, 0, 0, 1};
  bool operator==(const matrix&) const = default;
};
struct times {
  matrix operator()(const matrix& a, const matrix& b) const {
    constexpr std::uint64_t k_prime = 1'000'003;
    const auto at = [&](unsigned i, unsigned j) {
      return static_cast<std::uint32_t>(
          (std::uint64_t{a.m[2 * i]} * b.m[j] + std::uint64_t{a.m[2 * i + 1]} * b.m[2 + j]) % k_prime);
    };
    return {{at(0, 0), at(0, 1), at(1, 0), at(1, 1)}};
  }
};

TEST(parallel_scan, gives_what_a_serial_scan_gives) {
  for (const unsigned workers : k_scan_workers) {
    pool p(workers);
    p.run([] {
      for (const std::size_t n : k_scan_sizes) {
        std::vector<std::uint64_t> x(n);
        for (std::size_t i = 0; i < n; ++i) x[i] = mix64(i);
        std::vector<std::uint64_t> wanted(n);
        std::vector<std::uint64_t> got(n);
        std::inclusive_scan(x.begin(), x.end(), wanted.begin());
        EXPECT_EQ(parallel_inclusive_scan(x.begin(), x.end(), got.begin()), got.end());
        ASSERT_EQ(got, wanted) << n;
        std::exclusive_scan(x.begin(), x.end(), wanted.begin(), std::uint64_t{5});
        EXPECT_EQ(parallel_exclusive_scan(x.begin(), x.end(), got.begin(), std::uint64_t{5}), got.end());
        ASSERT_EQ(got, wanted) << n;
        auto in_place = x;
        parallel_exclusive_scan(in_place.begin(), in_place.end(), in_place.begin(), std::uint64_t{5});
        ASSERT_EQ(in_place, wanted) << n;
        const auto most = [](std::uint64_t a, std::uint64_t b) { return std::max(a, b); };
        std::inclusive_scan(x.begin(), x.end(), wanted.begin(), most, std::uint64_t{1} << 62);
        parallel_inclusive_scan(x.begin(), x.end(), x.begin(), most, std::uint64_t{1} << 62);
        ASSERT_EQ(x, wanted) << n;
      }
    });
  }
}

TEST(parallel_scan, needs_no_operation_that_commutes) {
  for (const unsigned workers : k_scan_workers) {
    pool p(workers);
    p.run([] {
      for (const std::size_t n : {1, 100, rounds(40'000, 5000)}) {
        std::deque<matrix> x(n);
        for (std::size_t i = 0; i < n; ++i)
          for (unsigned k = 0; k < 4; ++k) x[i].m[k] = static_cast<std::uint32_t>(mix64(4 * i + k) % 1000);
        std::vector<matrix> wanted(n);
        std::vector<matrix> got(n);
        std::inclusive_scan(x.begin(), x.end(), wanted.begin(), times{});
        parallel_inclusive_scan(x.begin(), x.end(), got.begin(), times{});
        ASSERT_EQ(got, wanted) << n;
        std::exclusive_scan(x.begin(), x.end(), wanted.begin(), matrix{}, times{});
        parallel_exclusive_scan(x.begin(), x.end(), x.begin(), matrix{}, times{});
        ASSERT_TRUE(std::equal(x.begin(), x.end(), wanted.begin())) << n;
      }
      const std::vector<std::string> words{"a", "b", "c", "d"};
      std::vector<std::string> prefixes(4);
      parallel_inclusive_scan(words.begin(), words.end(), prefixes.begin());
      EXPECT_EQ(prefixes, (std::vector<std::string>{"a", "ab", "abc", "abcd"}));
    });
  }
}

TEST(parallel_scan, gives_the_same_bits_for_any_number_of_workers) {
  const std::size_t n = rounds(400'000, 100'000);
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = 1.0 / static_cast<double>(mix64(i) % 1000 + 1);
  std::vector<double> first(n);
  for (int repeat = 0; repeat < rounds(10, 2); ++repeat)
    for (const unsigned workers : k_scan_workers) {
      pool p(workers);
      p.run([&] {
        std::vector<double> got(n);
        parallel_inclusive_scan(x.begin(), x.end(), got.begin());
        if (repeat == 0 && workers == 1) first = got;
        ASSERT_EQ(got, first) << workers;
      });
    }
}

TEST(parallel_scan, gives_parts_to_a_body_and_returns_the_total) {
  for (const unsigned workers : k_scan_workers) {
    pool p(workers);
    p.run([] {
      for (const int n : {-1, 0, 1, 1000, rounds(300'000, 40'000)}) {
        const auto size = static_cast<std::size_t>(std::max(n, 0));
        std::vector<std::int64_t> y(size);
        std::vector<std::atomic<int>> last(size);
        const std::int64_t total = parallel_scan(
            n, std::int64_t{0},
            [&](const range1d& part, std::int64_t sum, bool is_last) {
              for (auto i = part.begin(); i < part.end(); ++i) {
                sum += static_cast<std::int64_t>(i) % 7;
                if (is_last) y[i] = sum, ++last[i];
              }
              return sum;
            },
            std::plus<>());
        std::int64_t sum = 0;
        for (std::size_t i = 0; i < size; ++i) {
          sum += static_cast<std::int64_t>(i) % 7;
          ASSERT_EQ(y[i], sum);
          ASSERT_EQ(last[i], 1);
        }
        ASSERT_EQ(total, sum);
      }
      EXPECT_EQ(
          parallel_scan(
              range1d(10, 20, 4), 0,
              [](const range1d& part, int sum, bool) { return sum + static_cast<int>(part.size()); }, std::plus<>()),
          10);
    });
  }
}

TEST(parallel_scan, throws_what_the_operation_throws_and_lets_it_wait) {
  for (const unsigned workers : k_scan_workers) {
    pool p(workers);
    p.run([] {
      const std::size_t n = 2000;
      std::vector<std::string> x(n, "x");
      std::vector<std::size_t> lengths(n, 1);
      std::vector<std::size_t> got(n);
      const auto waits = [](std::size_t a, std::size_t b) {
        if (a % 50 == 3) yield();
        return a + b;
      };
      parallel_for(0, 4, [&](int) {
        std::vector<std::size_t> mine(n);
        parallel_inclusive_scan(lengths.begin(), lengths.end(), mine.begin(), waits);
        EXPECT_EQ(mine.back(), n);
      });
      const auto bad = [](const std::string& a, const std::string& b) {
        return a.size() > 900 ? throw std::runtime_error("too long") : a + b;
      };
      EXPECT_THROW(parallel_inclusive_scan(x.begin(), x.end(), x.begin(), bad), std::runtime_error);
    });
  }
}

TEST(parallel_scan_death_test, says_that_the_elements_end_before_they_begin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<int> x(3);
  EXPECT_DEATH(pool(1).run([&] { parallel_inclusive_scan(x.end(), x.begin(), x.begin()); }), "end before they begin");
}

}  // namespace
}  // namespace shoal
