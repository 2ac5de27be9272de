// SPDX-License-Identifier: Apache-2.0
// Functions with known optima, with noise.
#include "tune/search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

bool are_apart(const measured_point& a, const measured_point& b) {
  return std::ranges::max(a.values) < std::ranges::min(b.values) ||
         std::ranges::max(b.values) < std::ranges::min(a.values);
}

// Whatever the runs end in: no other point has a better median apart from the best one's figures.
TEST(search, the_best_point_is_not_worse_than_another_when_the_runs_end_early) {
  const space s = field();
  for (const bool less : {true, false})
    for (const method how : {method::grid, method::random, method::halving, method::model})
      for (std::uint64_t runs = 1; runs <= 40; ++runs) {
        valley v(runs);
        search_request r;
        r.how = how;
        r.smaller_is_better = less;
        r.most_runs = runs;
        r.seed = runs;
        r.measure = [&](const point& p) { return v(p); };
        const search_result found = search(s, r);
        const measured_point& best = found.points.front();
        for (const measured_point& p : found.points)
          EXPECT_FALSE(are_apart(p, best) && (less ? p.value() < best.value() / 1.01 : p.value() > best.value() * 1.01))
              << name_of(how) << " of " << runs << ": " << s.describe(best.where) << " before " << s.describe(p.where);
        EXPECT_TRUE(best.values.size() >= 2 || !found.doubt.empty()) << name_of(how) << " of " << runs;
      }
}

TEST(search, runs_used_up_in_the_first_comparison_leave_it_undecided) {
  const space s({parse_parameter("a=1,2")}, {});
  search_request r;
  r.most_runs = 2;
  r.measure = [](const point& p) { return std::optional(p[0] == 0 ? 0.5 : 0.001); };
  for (r.seed = 1; r.seed < 8; ++r.seed) {
    const search_result found = search(s, r);
    EXPECT_EQ(found.points.front().where, (point{1}));
    EXPECT_FALSE(found.complete);
    EXPECT_NE(found.doubt.find("a 2 has been run only once"), std::string::npos) << found.doubt;
  }
}

TEST(search, points_that_overlap_when_the_runs_end_are_undecided) {
  const space s({parse_parameter("a=1,2")}, {});
  search_request r;
  r.most_runs = 5;
  std::vector<int> runs(2, 0);
  r.measure = [&](const point& p) { return std::optional(1.0 + 0.1 * ((++runs[p[0]] + p[0]) % 2)); };
  const search_result found = search(s, r);
  EXPECT_FALSE(found.complete);
  EXPECT_NE(found.doubt.find("have not been compared to the end"), std::string::npos) << found.doubt;
  r.most_runs = 100;
  EXPECT_TRUE(search(s, r).complete);
  EXPECT_EQ(search(s, r).doubt, "");
}

// The first figure of the best one was a lucky one: a point that was given up on that ground gets its chance.
TEST(search, one_lucky_figure_does_not_give_up_others) {
  const space s({parse_parameter("a=1,2")}, {});
  for (std::uint64_t seed = 1; seed < 8; ++seed) {
    int runs = 0;
    point lucky;
    search_request r;
    r.seed = seed;
    r.measure = [&](const point& p) {
      if (++runs == 1) {
        lucky = p;
        return std::optional(1.0);
      }
      return std::optional(p == lucky ? 5.0 : 2.0);
    };
    const search_result found = search(s, r);
    EXPECT_NE(found.points.front().where, lucky);
    EXPECT_EQ(found.doubt, "");
  }
}

TEST(search, a_run_that_was_stopped_at_the_end_is_no_failure) {
  const space s({parse_parameter("a=1:8")}, {});
  search_request r;
  int runs = 0;
  r.measure = [&](const point& p) { return ++runs == 4 ? std::nullopt : std::optional(1.0 + p[0]); };
  r.goes_on = [&](std::uint64_t, const point&, double) { return runs < 4; };
  const search_result found = search(s, r);
  EXPECT_FALSE(found.complete);
  for (const measured_point& p : found.points) EXPECT_FALSE(p.failed);
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
