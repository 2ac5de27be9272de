// SPDX-License-Identifier: Apache-2.0
#include "tune/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
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
    compare_again();
    decide();
    for (auto& [number, p] : known_)
      if (p.failed || !p.values.empty()) result_.points.push_back(std::move(p));
    const auto rank = [&](const measured_point& p) {
      const bool is_nothing = !is_good(p);
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

  static bool is_good(const measured_point& p) { return !p.failed && !p.values.empty(); }

  // One more figure for `p`; false: it fails there, or there are no more runs.
  bool measure(const point& p) {
    if (!may_run()) {
      is_cut_ = true;
      return false;
    }
    measured_point& m = known(p);
    ++result_.runs;
    const auto value = request_.measure(p);
    if (value) m.values.push_back(*value);
    if (request_.goes_on) {
      const point& shown = best_ ? *best_ : p;
      ended_ = !request_.goes_on(result_.runs, shown, known(shown).value());
    }
    if (!value && ended_) is_cut_ = true;  // it was stopped: that says nothing about the point
    if (!value && !ended_) m.failed = true;
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
    rival_ = p;
    if (known(*best_).values.size() < 2 && !measure(*best_)) return give_way(p);  // one run does not show its noise
    if (judge(std::vector(1, known(p).values.back()), known(*best_).values, request_.smaller_is_better) ==
        verdict::worse) {
      rival_.reset();
      return;
    }
    compare_in_turn(p);
  }

  void compare_in_turn(const point& p) {
    rival_ = p;
    std::vector<double> own;
    std::vector<double> its;
    verdict v = verdict::open;
    for (unsigned i = 0; i < request_.most_repeats && v == verdict::open; ++i) {
      // Who is first changes, so that neither always follows the other.
      const point& first = i % 2 == 0 ? *best_ : p;
      const point& second = i % 2 == 0 ? p : *best_;
      if (!measure(first) || !measure(second)) return give_way(p);
      own.push_back(known(p).values.back());
      its.push_back(known(*best_).values.back());
      v = judge(own, its, request_.smaller_is_better);
    }
    const bool wins = v == verdict::better || (v == verdict::open && is_better(median(own), median(its)));
    settled_.insert(space_.number_of(wins ? *best_ : p));
    if (wins) best_ = p;
    rival_.reset();
  }

  // A run failed: the one that failed is no rival any more. Else the runs are used up, and decide() sees the rival.
  void give_way(const point& p) {
    if (is_cut_) return;
    rival_.reset();
    if (known(*best_).failed) best_ = p;
  }

  // Whether all figures of one are on one side of all figures of the other.
  static bool are_apart(const measured_point& a, const measured_point& b) {
    const auto [a_least, a_most] = std::ranges::minmax(a.values);
    const auto [b_least, b_most] = std::ranges::minmax(b.values);
    return a_most < b_least || b_most < a_least;
  }
  bool is_better_by_median(const measured_point& a, const measured_point& b) const {
    constexpr double k_of_interest = 1.01;
    const double ratio = a.value() / b.value();
    return request_.smaller_is_better ? ratio * k_of_interest < 1 : ratio > k_of_interest;
  }

  // The point with the best median of those that contradict: better than the best one, and not compared with it to the
  // end, or apart from it all the same.
  std::optional<point> contradiction(const std::set<std::uint64_t>& but) const {
    const measured_point* found = nullptr;
    const measured_point& best = known_.at(space_.number_of(*best_));
    for (const auto& [number, m] : known_) {
      if (!is_good(m) || m.where == *best_ || but.contains(number) || !is_better_by_median(m, best)) continue;
      if (settled_.contains(number) && !are_apart(m, best)) continue;
      if (found == nullptr || is_better(m.value(), found->value())) found = &m;
    }
    return found != nullptr ? std::optional(found->where) : std::nullopt;
  }

  // The best one's figures may have become worse than those of a point that was given up early, as when the machine
  // has become slower: such points are compared once more, in turn, as long as there are runs.
  void compare_again() {
    std::set<std::uint64_t> again;
    while (best_ && is_good(known(*best_)) && may_run()) {
      const auto p = contradiction(again);
      if (!p) return;
      again.insert(space_.number_of(*p));
      compare_in_turn(*p);
    }
  }

  // What the figures say when the runs are used up.
  void decide() {
    if (is_cut_) result_.complete = false;
    if (!best_ || !is_good(known(*best_)))
      for (const auto& [number, m] : known_)
        if (is_good(m)) best_ = m.where;
    if (!best_) return;
    std::optional<point> other = rival_;
    const point before = *best_;
    if (rival_ && is_good(known(*rival_)) && is_better(known(*rival_).value(), known(*best_).value())) best_ = rival_;
    while (const auto p = contradiction({})) {
      if (!are_apart(known(*p), known(*best_))) other = p;
      best_ = p;
    }
    if (other && *other == *best_) other = before;
    const measured_point& best = known(*best_);
    const bool is_alone = std::ranges::none_of(
        known_, [&](const auto& one) { return is_good(one.second) && one.second.where != best.where; });
    if (best.values.size() < 2 && !(is_alone && result_.complete)) {
      result_.doubt = space_.describe(best.where) + " has been run only once";
    } else if (settled_.contains(space_.number_of(*best_))) {
      result_.doubt = space_.describe(best.where) + " was worse when it was run in turn with another point";
    } else if (other && is_good(known(*other)) && *other != *best_ && !are_apart(known(*other), best)) {
      result_.doubt = fmt::format("{} and {} have not been compared to the end", space_.describe(best.where),
                                  space_.describe(*other));
    }
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
    result_.complete = true;
  }

  void by_chance() {
    for (const point& p : some(request_.most_runs)) {
      if (!may_run()) return;
      challenge(p);
    }
    const auto all = space_.all(request_.most_runs);
    result_.complete = all && known_.size() == all->size();
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
    result_.complete = true;
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
  std::optional<point> rival_;       // in the comparison that goes on
  std::set<std::uint64_t> settled_;  // points that were compared in turn to the end, and were not better
  search_result result_;
  bool ended_ = false;
  bool is_cut_ = false;  // the runs or the time ended before what was meant to be measured
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
