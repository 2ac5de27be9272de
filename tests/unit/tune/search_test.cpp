// SPDX-License-Identifier: Apache-2.0
// Functions with known optima, with noise.
#include "tune/search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "shoal/error.hpp"
#include "tune/surrogate.hpp"

namespace shoal::tune {
namespace {

// A valley with its lowest place at a = 2^6, b = 2^3, with noise of 3 %.
class valley {
public:
  explicit valley(std::uint64_t seed) : random_(seed) {}
  static double exact(const point& p) {
    const double a = static_cast<double>(p[0]) - 6;
    const double b = static_cast<double>(p[1]) - 3;
    return 1 + 0.05 * a * a + 0.08 * b * b;
  }
  std::optional<double> operator()(const point& p) {
    ++runs_;
    return exact(p) * std::exp(std::normal_distribution<double>(0, 0.03)(random_));
  }
  std::uint64_t runs() const { return runs_; }

private:
  std::mt19937_64 random_;
  std::uint64_t runs_ = 0;
};

space field() { return space({parse_parameter("a=1:65536:log2"), parse_parameter("b=1:1024:log2")}, {}); }

double found(method how, std::uint64_t seed, std::uint64_t runs) {
  const space s = field();
  valley v(seed);
  search_request r;
  r.how = how;
  r.most_runs = runs;
  r.seed = seed;
  r.measure = [&](const point& p) { return v(p); };
  const search_result result = search(s, r);
  EXPECT_EQ(result.runs, v.runs());
  EXPECT_LE(result.runs, runs + 1);
  return valley::exact(result.points.front().where);
}

TEST(search, each_method_comes_near_the_best_of_a_noisy_function) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LE(found(method::grid, seed, 2000), 1.09) << seed;  // a neighbour at most
    EXPECT_LE(found(method::model, seed, 120), 1.09) << seed;
    EXPECT_LE(found(method::halving, seed, 300), 1.25) << seed;
    EXPECT_LE(found(method::random, seed, 300), 1.25) << seed;
  }
}

TEST(search, a_small_space_is_searched_whole) {
  const space s({parse_parameter("a=1:8"), parse_parameter("b=x,y")}, {});
  search_request r;
  r.measure = [](const point& p) { return std::optional(1.0 + p[0] + 10 * p[1]); };
  r.smaller_is_better = false;
  const auto result = search(s, r);
  EXPECT_EQ(result.how, method::grid);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.points.size(), 16U);
  EXPECT_EQ(result.points.front().where, (point{7, 1}));
}

TEST(search, points_that_fail_are_last_and_not_chosen) {
  const space s({parse_parameter("a=1:8")}, {});
  search_request r;
  r.measure = [](const point& p) { return p[0] < 4 ? std::nullopt : std::optional(1.0 + p[0]); };
  const auto result = search(s, r);
  EXPECT_EQ(result.points.front().where, (point{4}));
  EXPECT_TRUE(result.points.back().failed);
  r.measure = [](const point&) { return std::optional<double>(); };
  EXPECT_TRUE(search(s, r).points.front().failed);
}

TEST(search, clearly_worse_points_are_run_once) {
  const space s({parse_parameter("a=1:10")}, {});
  std::vector<int> runs(10, 0);
  std::vector<int> late;  // tried first when the best one was known
  search_request r;
  r.measure = [&](const point& p) {
    if (++runs[p[0]] == 1 && runs[3] > 0 && p[0] != 3) late.push_back(static_cast<int>(p[0]));
    return std::optional(p[0] == 3 ? 1.0 : 100.0 + p[0]);
  };
  for (r.seed = 1; late.empty(); ++r.seed) {
    runs.assign(10, 0);
    EXPECT_EQ(search(s, r).points.front().where, (point{3}));
  }
  for (const int p : late) EXPECT_EQ(runs[static_cast<std::size_t>(p)], 1) << p;
}

TEST(search, ends_when_asked_to) {
  search_request r;
  r.how = method::random;
  r.measure = [](const point& p) { return std::optional(1.0 + p[0]); };
  r.goes_on = [](std::uint64_t runs, const point&, double) { return runs < 10; };
  const auto result = search(field(), r);
  EXPECT_EQ(result.runs, 10U);
  EXPECT_FALSE(result.complete);
}

TEST(search, the_same_seed_takes_the_same_way) {
  for (const method how : {method::random, method::halving, method::model}) {
    std::vector<point> ways[2];
    for (auto& way : ways) {
      valley v(3);
      search_request r;
      r.how = how;
      r.most_runs = 60;
      r.measure = [&](const point& p) {
        way.push_back(p);
        return v(p);
      };
      search(field(), r);
    }
    EXPECT_EQ(ways[0], ways[1]);
  }
}

TEST(search, a_space_without_a_point_is_refused) {
  search_request r;
  r.measure = [](const point&) { return std::optional(1.0); };
  EXPECT_THROW(search(space({parse_parameter("a=1:3")}, {expression("a > 5")}), r), error);
  EXPECT_EQ(method_of("model"), method::model);
  EXPECT_FALSE(method_of("best").has_value());
}

TEST(surrogate, goes_through_what_was_measured_and_is_unsure_elsewhere) {
  const space s({parse_parameter("a=1:101")}, {});
  std::vector<point> points;
  std::vector<double> values;
  for (std::uint32_t i = 0; i <= 40; i += 5) {
    points.push_back({i});
    values.push_back(std::sin(i * 0.1));
  }
  const surrogate m(s, points, values, 1e-6);
  EXPECT_NEAR(m.at({20}).mean, std::sin(2.0), 0.02);
  EXPECT_NEAR(m.at({22}).mean, std::sin(2.2), 0.05);
  EXPECT_LT(m.at({20}).deviation, m.at({90}).deviation / 5);
  EXPECT_GT(m.expected_improvement({90}), m.expected_improvement({15}));
}

}  // namespace
}  // namespace shoal::tune
