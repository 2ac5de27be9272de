// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/random.hpp"
#include "shoal/task.hpp"
#include "unit/sched/pool_run.hpp"

namespace shoal::sched {
namespace {

class parallel_reduce_of : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(workers, parallel_reduce_of, testing::Values(1U, 2U, 3U, 4U));

template <class Loop>
void with_each_option(const Loop& loop) {
  loop(auto_partitioner{}, "auto");
  loop(simple_partitioner{3}, "simple");
  loop(static_partitioner{}, "static");
  affinity_partitioner kept;
  for (int sweep = 0; sweep < 2; ++sweep) loop(kept, "affinity");
  loop(deterministic, "deterministic");
  loop(deterministic_t{7}, "deterministic by 7");
}

TEST_P(parallel_reduce_of, numbers_adds_them_up) {
  run_pool(GetParam(), [] {
    with_each_option([](auto&& option, const std::string& name) {
      for (const std::uint64_t n : {0U, 1U, 2U, 1000U, rounds(20'011U, 3'011U)}) {
        const std::uint64_t expected = n == 0 ? 0 : n * (n - 1) / 2;
        const auto index = [](std::uint64_t i) {
          if (i % 97 == 3) yield();
          return i;
        };
        EXPECT_EQ(parallel_reduce(0, n, std::uint64_t{0}, index, std::plus<>(), option), expected) << name;
        const auto part = [](const range1d& r) {
          std::uint64_t sum = 0;
          for (auto i = r.begin(); i < r.end(); ++i) sum += i;
          return sum;
        };
        EXPECT_EQ(parallel_reduce(range1d(0, n), std::uint64_t{0}, part, std::plus<>(), option), expected) << name;
        const auto fold = [](const range1d& r, std::uint64_t sum) {
          for (auto i = r.begin(); i < r.end(); ++i) sum += i;
          if (r.begin() % 5 == 0) yield();
          return sum;
        };
        EXPECT_EQ(parallel_reduce(0, n, std::uint64_t{0}, fold, std::plus<>(), option), expected) << name;
      }
      const auto most = [](int a, int b) { return std::max(a, b); };
      EXPECT_EQ(parallel_reduce(
                    -50, 50, -1000, [](int i) { return -i * i; }, most, option),
                0)
          << name;
    });
  });
}

TEST_P(parallel_reduce_of, boxes_adds_up_each_point) {
  run_pool(GetParam(), [] {
    with_each_option([](auto&& option, const std::string& name) {
      const range2d box(3, 60, 2, 71);
      std::uint64_t expected = 0;
      for (std::uint64_t i = 3; i < 60; ++i)
        for (std::uint64_t j = 2; j < 71; ++j) expected += i * 1000 + j;
      const auto point = [](std::uint64_t i, std::uint64_t j) { return i * 1000 + j; };
      EXPECT_EQ(parallel_reduce(box, std::uint64_t{0}, point, std::plus<>(), option), expected) << name;
      const auto tile = [&](const range2d& t, std::uint64_t sum) {
        for (auto i = t.rows().begin(); i < t.rows().end(); ++i)
          for (auto j = t.columns().begin(); j < t.columns().end(); ++j) sum += point(i, j);
        return sum;
      };
      EXPECT_EQ(parallel_reduce(box, std::uint64_t{0}, tile, std::plus<>(), option), expected) << name;
      const range3d cube(range1d(0, 9), range1d(1, 8), range1d(2, 12));
      const auto three = [](std::uint64_t i, std::uint64_t j, std::uint64_t k) { return i + 10 * j + 100 * k; };
      EXPECT_EQ(parallel_reduce(cube, std::uint64_t{0}, three, std::plus<>(), option),
                9U * 7 * 10 * 4 + 10 * (9U * 10 * 28) + 100 * (9U * 7 * 65))
          << name;
    });
  });
}

TEST_P(parallel_reduce_of, large_values_and_exceptions) {
  run_pool(GetParam(), [] {
    with_each_option([](auto&& option, const std::string& name) {
      const auto joined = [](std::vector<int> a, std::vector<int> b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      };
      const auto one = [](int i) {
        if (i % 31 == 0) yield();
        return std::vector<int>(1, i);
      };
      auto all = parallel_reduce(0, 2000, std::vector<int>(), one, joined, option);
      std::ranges::sort(all);
      std::vector<int> expected(2000);
      std::iota(expected.begin(), expected.end(), 0);
      EXPECT_EQ(all, expected) << name;
      const auto failing = [](int i) -> int {
        if (i % 100 == 77) throw std::out_of_range("no");
        return i;
      };
      EXPECT_THROW(parallel_reduce(0, 2000, 0, failing, std::plus<>(), option), std::out_of_range) << name;
      std::stop_source stopped;
      stopped.request_stop();
      EXPECT_EQ(parallel_reduce(
                    0, 2000, 5, [](int i) { return i; }, [](int, int b) { return b; }, option, stopped.get_token()),
                5)
          << name;
    });
  });
}

// Neither commutative nor associative: the result tells the order.
TEST(parallel_reduce, deterministic_combines_in_the_order_that_is_documented) {
  for (const unsigned workers : {1U, 2U, 4U})
    run_pool(workers, [] {
      const auto joined = [](const std::string& a, const std::string& b) { return "(" + a + b + ")"; };
      const auto letter = [](int i) {
        if (i % 3 == 0) yield();
        return std::string(1, static_cast<char>('a' + i));
      };
      EXPECT_EQ(parallel_reduce(0, 7, std::string(), letter, joined, deterministic_t{3}),
                "((("
                "(((a)b)c)"
                ")"
                "(((d)e)f)"
                ")"
                "(g)"
                ")");
    });
}

// The same bits, for 1 ... 4 workers and every partitioner.
TEST(parallel_reduce, deterministic_sums_of_doubles_agree_to_the_last_bit) {
  constexpr std::uint64_t k_n = 100'003;
  std::vector<double> values(k_n);
  xoshiro256ss random(7);
  for (auto& v : values) v = static_cast<double>(random.below(1'000'000)) / 7.0 - 60'000.0;
  std::vector<std::uint64_t> bits;
  std::vector<std::uint64_t> bits_2d;
  for (const unsigned workers : {1U, 2U, 3U, 4U})
    run_pool(workers, [&] {
      affinity_partitioner kept;
      const auto with = [&](auto&& partitioner) {
        const auto value = [&](std::uint64_t i) { return values[i]; };
        const double sum = parallel_reduce(0, k_n, 0.0, value, std::plus<>(), partitioner, deterministic);
        bits.push_back(std::bit_cast<std::uint64_t>(sum));
        const auto point = [&](std::uint64_t i, std::uint64_t j) { return values[i * 300 + j]; };
        const double sum_2d =
            parallel_reduce(range2d(0, 330, 0, 300), 0.0, point, std::plus<>(), deterministic, partitioner);
        bits_2d.push_back(std::bit_cast<std::uint64_t>(sum_2d));
      };
      with(auto_partitioner{});
      with(simple_partitioner{5});
      with(static_partitioner{});
      with(kept);
    });
  for (const std::uint64_t b : bits) EXPECT_EQ(b, bits[0]);
  for (const std::uint64_t b : bits_2d) EXPECT_EQ(b, bits_2d[0]);
  double serial = 0;
  for (const double v : values) serial += v;
  EXPECT_NEAR(std::bit_cast<double>(bits[0]), serial, 1e-3);
}

TEST(parallel_reduce, deterministic_makes_at_most_1024_chunks_of_a_box) {
  run_pool(2, [] {
    for (const range2d& box : {range2d(0, 1000, 0, 1000), range2d(0, 33, 0, 31), range2d(0, 1, 0, 100'001)}) {
      std::atomic<int> chunks{0};
      const auto points = [&](const range2d& tile) {
        chunks.fetch_add(1);
        return tile.size();
      };
      EXPECT_EQ(parallel_reduce(box, std::uint64_t{0}, points, std::plus<>(), deterministic), box.size());
      EXPECT_LE(chunks.load(), 1024);
      EXPECT_GT(chunks.load(), 500);
    }
  });
}

// The grain of a simple_partitioner counts iterations, not chunks: another worker gets some of these.
TEST(parallel_reduce, deterministic_chunks_are_not_lumped_by_a_grain) {
  run_pool(2, [] {
    const unsigned me = detail::t_worker->index;
    std::atomic<bool> shared{false};
    const auto value = [&](int i) {
      if (detail::t_worker->index != me) shared.store(true);
      const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (i == 0 && !shared.load() && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      return 1;
    };
    EXPECT_EQ(parallel_reduce(0, 10'000, 0, value, std::plus<>(), deterministic, simple_partitioner{10'000}), 10'000);
    EXPECT_TRUE(shared.load());
  });
}

TEST(parallel_reduce_death, parts_have_no_negative_numbers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto sum = [](auto... how) {
    run_pool(1, [=] {
      parallel_reduce(
          -5, 5, 0, [](const range1d& part) { return static_cast<int>(part.size()); }, std::plus<>(), how...);
    });
  };
  EXPECT_DEATH(sum(), "not negative");
  EXPECT_DEATH(sum(deterministic), "not negative");
}

}  // namespace
}  // namespace shoal::sched
