// SPDX-License-Identifier: Apache-2.0
#include "tune/search.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "shoal/error.hpp"
#include "tune/surrogate.hpp"

namespace shoal::tune {
namespace {

constexpr std::uint64_t k_small_space = 64;
constexpr std::uint64_t k_most_listed = 1U << 20;
constexpr std::size_t k_most_asked = 4096;  // points that the model is asked about at once

constexpr std::pair<method, std::string_view> k_names[] = {{method::automatic, "auto"},
                                                           {method::grid, "grid"},
                                                           {method::random, "random"},
                                                           {method::halving, "halving"},
                                                           {method::model, "model"}};

class searcher {
public:
  searcher(const space& s, const search_request& r) : space_(s), request_(r), random_(r.seed) {}

  search_result run() {
    result_.how = request_.how;
    if (result_.how == method::automatic) {
      const auto all = space_.all(k_small_space);
      result_.how = all ? method::grid : method::model;
    }
    switch (result_.how) {
      case method::automatic:
      case method::grid: by_grid(); break;
      case method::random: by_chance(); break;
      case method::halving: by_halves(); break;
      case method::model: by_model(); break;
    }
    if (known_.empty()) throw error(errc::invalid_argument, "no point meets all constraints");
    for (auto& [number, p] : known_) result_.points.push_back(std::move(p));
    const auto rank = [&](const measured_point& p) {
      const bool is_nothing = p.failed || p.values.empty();
      const double value = is_nothing ? 0 : p.value();
      return std::pair(is_nothing, request_.smaller_is_better ? value : -value);
    };
    std::ranges::stable_sort(result_.points, [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
    // The best one has been compared in turn with the others; a lucky median of fewer runs is not better.
    if (best_)
      std::stable_partition(result_.points.begin(), result_.points.end(),
                            [&](const measured_point& p) { return p.where == *best_; });
    return std::move(result_);
  }

private:
  measured_point& known(const point& p) {
    measured_point& m = known_[space_.number_of(p)];
    m.where = p;
    return m;
  }
  bool is_known(const point& p) const { return known_.contains(space_.number_of(p)); }
  bool may_run() const { return !ended_ && result_.runs < request_.most_runs; }

  // One more figure for `p`; false: it fails there, or there are no more runs.
  bool measure(const point& p) {
    if (!may_run()) return false;
    measured_point& m = known(p);
    ++result_.runs;
    const auto value = request_.measure(p);
    if (value) {
      m.values.push_back(*value);
    } else {
      m.failed = true;
    }
    if (request_.goes_on) {
      const point& shown = best_ ? *best_ : p;
      ended_ = !request_.goes_on(result_.runs, shown, known(shown).value());
    }
    return value.has_value();
  }

  // A candidate against the best one, in turn.
  void challenge(const point& p) {
    if (best_ && p == *best_) return;
    if (known(p).values.empty() && !measure(p)) return;
    if (!best_) {
      best_ = p;
      return;
    }
    std::vector<double> own(1, known(p).values.back());
    std::vector<double> its = known(*best_).values;
    if (judge(own, its, request_.smaller_is_better) == verdict::worse) return;
    its.clear();
    own.clear();
    verdict v = verdict::open;
    for (unsigned i = 0; i < request_.most_repeats && v == verdict::open; ++i) {
      // Who is first changes, so that neither always follows the other.
      const point& first = i % 2 == 0 ? *best_ : p;
      const point& second = i % 2 == 0 ? p : *best_;
      if (!measure(first) || !measure(second)) return;
      own.push_back(known(p).values.back());
      its.push_back(known(*best_).values.back());
      v = judge(own, its, request_.smaller_is_better);
    }
    const double a = median(own);
    const double b = median(its);
    const bool wins = v == verdict::better || (v == verdict::open && (request_.smaller_is_better ? a < b : a > b));
    if (wins) best_ = p;
  }

  void by_grid() {
    const auto all = space_.all(k_most_listed);
    if (!all)
      throw error(errc::invalid_argument, "a grid of more than a million points is too large; use --method model");
    std::vector<point> order = *all;
    std::ranges::shuffle(order, random_);  // what the machine does meanwhile must not favour a corner
    for (const point& p : order) {
      if (!may_run()) return;
      challenge(p);
    }
    result_.complete = !ended_;
  }

  void by_chance() {
    for (const point& p : some(request_.most_runs)) {
      if (!may_run()) return;
      challenge(p);
    }
    result_.complete = !ended_;
  }

  // Half of the runs go into the first round: n + n/2 + n/4 + ... is 2 n.
  void by_halves() {
    std::vector<point> left = some(std::max<std::uint64_t>(2, request_.most_runs * 2 / 5));
    while (left.size() > 2) {
      std::ranges::shuffle(left, random_);
      for (const point& p : left)
        if (!known(p).failed) measure(p);
      if (!may_run()) break;
      std::erase_if(left, [&](const point& p) { return known(p).failed; });
      std::ranges::stable_sort(
          left, [&](const point& a, const point& b) { return is_better(known(a).value(), known(b).value()); });
      left.resize(std::min(left.size(), std::max<std::size_t>(2, left.size() / 2)));
      if (!left.empty()) best_ = left.front();
      if (left.size() <= 2) break;
    }
    for (const point& p : left)
      if (!known(p).failed) challenge(p);
    result_.complete = may_run();
  }

  void by_model() {
    const std::size_t first = std::max<std::size_t>(5, 2 * space_.parameters().size() + 3);
    for (const point& p : some(first)) {
      if (!may_run()) return;
      challenge(p);
    }
    const auto all = space_.all(k_most_listed);
    while (may_run()) {
      const auto next = most_promising(all ? &*all : nullptr);
      if (!next) {
        result_.complete = true;
        return;
      }
      challenge(*next);
    }
  }

  // By what the model expects of it; empty: all are known, or nothing is expected of the rest.
  std::optional<point> most_promising(const std::vector<point>* all) {
    std::vector<point> points;
    std::vector<double> values;
    for (const auto& [number, m] : known_) {
      if (m.values.empty()) continue;
      points.push_back(m.where);
      const double v = std::log(std::max(m.value(), 1e-300));
      values.push_back(request_.smaller_is_better ? v : -v);
    }
    std::vector<point> asked;
    if (all != nullptr && all->size() <= k_most_asked) {
      std::ranges::copy_if(*all, std::back_inserter(asked), [&](const point& p) { return !is_known(p); });
    } else {
      for (std::size_t i = 0; i < k_most_asked; ++i)
        if (auto p = space_.random(random_); p && !is_known(*p)) asked.push_back(*std::move(p));
      for (point& p : neighbours_of_best()) asked.push_back(std::move(p));
    }
    if (asked.empty()) return std::nullopt;
    if (points.size() < 2) return asked.front();
    const surrogate model(space_, std::move(points), values);
    double most = -1;
    const point* best = nullptr;
    for (const point& p : asked) {
      const double gain = model.expected_improvement(p);
      if (gain <= most) continue;
      most = gain;
      best = &p;
    }
    constexpr double k_of_no_interest = 0.001;  // a thousandth, since values are logarithms
    if (best == nullptr || most < k_of_no_interest) return std::nullopt;
    return *best;
  }

  std::vector<point> neighbours_of_best() {
    std::vector<point> near;
    if (!best_) return near;
    for (std::size_t i = 0; i < best_->size(); ++i)
      for (const int step : {-1, 1}) {
        point p = *best_;
        if ((step < 0 && p[i] == 0) || (step > 0 && p[i] + 1 >= space_.parameters()[i].values.size())) continue;
        p[i] = static_cast<std::uint32_t>(static_cast<int>(p[i]) + step);
        if (space_.allows(p) && !is_known(p)) near.push_back(std::move(p));
      }
    return near;
  }

  // Different ones, at most `number`.
  std::vector<point> some(std::uint64_t number) {
    if (auto all = space_.all(k_most_listed)) {
      std::ranges::shuffle(*all, random_);
      if (all->size() > number) all->resize(number);
      return *std::move(all);
    }
    std::map<std::uint64_t, point> chosen;
    for (std::uint64_t tries = 0; tries < 4 * number && chosen.size() < number; ++tries)
      if (auto p = space_.random(random_)) chosen.emplace(space_.number_of(*p), *p);
    std::vector<point> points;
    for (auto& [n, p] : chosen) points.push_back(std::move(p));
    std::ranges::shuffle(points, random_);
    return points;
  }

  bool is_better(double a, double b) const { return request_.smaller_is_better ? a < b : a > b; }

  const space& space_;
  const search_request& request_;
  std::mt19937_64 random_;
  std::map<std::uint64_t, measured_point> known_;
  std::optional<point> best_;
  search_result result_;
  bool ended_ = false;
};

}  // namespace

std::optional<method> method_of(std::string_view name) {
  for (const auto& [m, n] : k_names)
    if (n == name) return m;
  return std::nullopt;
}

std::string_view name_of(method m) {
  for (const auto& [one, n] : k_names)
    if (one == m) return n;
  return "";
}

search_result search(const space& s, const search_request& r) { return searcher(s, r).run(); }

}  // namespace shoal::tune
