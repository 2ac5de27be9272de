// SPDX-License-Identifier: Apache-2.0
#include "shoal/parallel_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "shoal/loop.hpp"
#include "shoal/pool.hpp"
#include "shoal/random.hpp"
#include "unit/rounds.hpp"

namespace shoal {
namespace {

constexpr unsigned k_sort_workers[] = {1, 2, 7};
const std::vector<std::size_t> k_sort_sizes{0, 1, 2, 1024, 2047, 2048, rounds(40'000, 10'000)};

enum class shape { random, few, equal, sorted, reversed, organ_pipe, sawtooth };
constexpr shape k_shapes[] = {shape::random,   shape::few,        shape::equal,   shape::sorted,
                              shape::reversed, shape::organ_pipe, shape::sawtooth};

std::uint64_t number_at(shape s, std::size_t i, std::size_t n) {
  switch (s) {
    case shape::random: return mix64(i) >> 20;
    case shape::few: return mix64(i) % 5;
    case shape::equal: return 42;
    case shape::sorted: return i;
    case shape::reversed: return n - i;
    case shape::organ_pipe: return std::min(i, n - i);
    case shape::sawtooth: return i % 100;
  }
  return 0;
}

template <class Make>
auto made(shape s, std::size_t n, const Make& make) {
  std::vector<decltype(make(std::uint64_t{}, std::size_t{}))> all;
  all.reserve(n);
  for (std::size_t i = 0; i < n; ++i) all.push_back(make(number_at(s, i, n), i));
  return all;
}

// An element that knows where it was.
struct placed_key {
  std::string key;
  std::size_t place;
  bool operator==(const placed_key&) const = default;
};
struct key_less {
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a.key < b.key;
  }
};
struct plain_key {
  std::uint64_t key;
  std::uint64_t place;
  bool operator==(const plain_key&) const = default;
};
struct large_key {
  std::uint64_t key;
  std::uint64_t more[20];
  bool operator==(const large_key&) const = default;
};

template <class T, class Less>
void expect_sorts(const std::vector<T>& given, const Less& less) {
  auto wanted = given;
  std::stable_sort(wanted.begin(), wanted.end(), less);
  auto stable = given;
  parallel_stable_sort(stable.begin(), stable.end(), less);
  ASSERT_TRUE(stable == wanted);
  auto any = given;
  parallel_sort(any.begin(), any.end(), less);
  ASSERT_TRUE(std::is_sorted(any.begin(), any.end(), less));
  parallel_stable_sort(any.begin(), any.end(), [](const T& a, const T& b) {
    if constexpr (requires { a.place; })
      return a.key != b.key ? a.key < b.key : a.place < b.place;
    else if constexpr (requires { a.key; })
      return a.key < b.key;
    else
      return a < b;
  });
  // None is lost.
  if constexpr (requires(const T& t) { t.key; }) {
    ASSERT_TRUE(any == wanted);
  }
}

TEST(parallel_sort, sorts_every_shape_of_every_type) {
  for (const unsigned workers : k_sort_workers) {
    pool p(workers);
    p.run([] {
      for (const std::size_t n : k_sort_sizes)
        for (const shape s : k_shapes) {
          SCOPED_TRACE(std::to_string(n) + " of shape " + std::to_string(static_cast<int>(s)));
          expect_sorts(made(s, n, [](std::uint64_t k, std::size_t) { return static_cast<std::int64_t>(k) - 1000; }),
                       std::less<>());
          expect_sorts(made(s, n, [](std::uint64_t k, std::size_t) { return static_cast<int>(k); }), std::greater<>());
          expect_sorts(made(s, n, [](std::uint64_t k, std::size_t) { return 0.5 * static_cast<double>(k); }),
                       std::less<double>());
          expect_sorts(made(s, n, [](std::uint64_t k, std::size_t i) { return plain_key{k, i}; }), key_less());
          expect_sorts(made(s, n, [](std::uint64_t k, std::size_t) { return large_key{k, {k}}; }), key_less());
          if (n < 10'000 || s == shape::random)
            expect_sorts(made(s, n,
                              [](std::uint64_t k, std::size_t i) {
                                return placed_key{std::to_string(k), i};
                              }),
                         key_less());
        }
    });
  }
}

TEST(parallel_sort, sorts_what_only_moves_between_any_random_access_iterators) {
  for (const unsigned workers : k_sort_workers) {
    pool p(workers);
    p.run([] {
      const std::size_t n = 30'000;
      std::deque<std::unique_ptr<std::uint64_t>> all;
      for (std::size_t i = 0; i < n; ++i) all.push_back(std::make_unique<std::uint64_t>(mix64(i) % 10'000));
      const auto by_value = [](const auto& a, const auto& b) { return *a < *b; };
      parallel_sort(all.begin(), all.end(), by_value);
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), by_value));
      parallel_stable_sort(all.rbegin(), all.rend(), by_value);
      EXPECT_TRUE(std::is_sorted(all.rbegin(), all.rend(), by_value));
      EXPECT_EQ(std::count(all.begin(), all.end(), nullptr), 0);
    });
  }
}

TEST(parallel_sort, keeps_the_order_of_zeros_only_if_it_is_stable) {
  pool p(2);
  p.run([] {
    std::vector<double> x(5000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 0.0 : -0.0;
    x[0] = 1;
    parallel_stable_sort(x.begin(), x.end());
    EXPECT_EQ(x.back(), 1);
    for (std::size_t i = 0; i + 1 < x.size(); ++i) ASSERT_EQ(std::signbit(x[i]), i % 2 == 0) << i;
    parallel_sort(x.begin(), x.end());
    EXPECT_TRUE(std::is_sorted(x.begin(), x.end()));
  });
}

TEST(parallel_sort, compares_no_more_than_the_order_needs) {
  pool p(3);
  p.run([] {
    const std::size_t n = rounds(50'000, 10'000);
    for (const shape s : k_shapes) {
      std::atomic<std::uint64_t> calls{0};
      auto all = made(s, n, [](std::uint64_t k, std::size_t i) {
        return placed_key{std::to_string(k + 1'000'000'000), i};
      });
      parallel_sort(all.begin(), all.end(), [&](const placed_key& a, const placed_key& b) {
        calls.fetch_add(1, std::memory_order_relaxed);
        return a.key < b.key;
      });
      EXPECT_LT(calls, s == shape::sorted || s == shape::equal ? 2 * n : 60 * n) << static_cast<int>(s);
    }
  });
}

std::atomic<int> live_elements{0};
// Counts itself, and may throw when it is moved.
struct counted_element {
  explicit counted_element(std::uint64_t k) : key(k) { ++live_elements; }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): it throws
  counted_element(counted_element&& other) : key(other.key) {
    if (key == k_bad) throw std::runtime_error("a move");
    ++live_elements;
  }
  // NOLINTNEXTLINE(performance-noexcept-move-constructor)
  counted_element& operator=(counted_element&& other) {
    key = other.key;
    return *this;
  }
  ~counted_element() { --live_elements; }
  static constexpr std::uint64_t k_bad = ~std::uint64_t{0};
  std::uint64_t key;
};

TEST(parallel_sort, throws_what_a_comparison_or_a_move_throws) {
  for (const unsigned workers : k_sort_workers) {
    pool p(workers);
    p.run([] {
      const std::size_t n = 20'000;
      for (const std::uint64_t fatal : {1U, 5000U, 60'000U, 150'000U}) {
        std::atomic<std::uint64_t> calls{0};
        const auto less = [&](const auto& a, const auto& b) {
          return ++calls == fatal ? throw std::runtime_error("a comparison") : a < b;
        };
        std::vector<std::string> words;
        for (std::size_t i = 0; i < n; ++i) words.push_back(std::to_string(mix64(i)) + " is too long for the object");
        EXPECT_THROW(parallel_sort(words.begin(), words.end(), less), std::runtime_error) << fatal;
        words[0] = "can be assigned to";
        calls = 0;
        EXPECT_THROW(parallel_stable_sort(words.begin(), words.end(), less), std::runtime_error) << fatal;
        std::vector<int> numbers(n);
        for (std::size_t i = 0; i < n; ++i) numbers[i] = static_cast<int>(mix64(i));
        calls = 0;
        EXPECT_THROW(parallel_sort(numbers.begin(), numbers.end(), less), std::runtime_error) << fatal;
      }
      {
        std::vector<counted_element> all;
        all.reserve(n);
        for (std::size_t i = 0; i < n; ++i) all.emplace_back(i == 17'000 ? counted_element::k_bad : mix64(i) / 2);
        EXPECT_THROW(parallel_sort(all.begin(), all.end(), key_less()), std::runtime_error);
        EXPECT_EQ(live_elements, static_cast<int>(n));
      }
      EXPECT_EQ(live_elements, 0);
    });
  }
}

TEST(parallel_sort, nests_in_loops) {
  pool p(4);
  p.run([] {
    parallel_for(0, 8, [](int k) {
      auto words = made(shape::random, 4000, [k](std::uint64_t x, std::size_t) {
        return std::to_string(x + static_cast<std::uint64_t>(k));
      });
      parallel_sort(words.begin(), words.end());
      EXPECT_TRUE(std::is_sorted(words.begin(), words.end()));
    });
  });
}

TEST(parallel_sort_death_test, says_that_the_elements_end_before_they_begin) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  std::vector<int> x(3);
  EXPECT_DEATH(pool(1).run([&] { parallel_sort(x.end(), x.begin()); }), "end before they begin");
}

}  // namespace
}  // namespace shoal
