// SPDX-License-Identifier: Apache-2.0
// Where the parts of the members of a team, each sorted by itself, are cut, so that given numbers of elements of the
// whole lie before the cuts: a search for all cuts at once. In each round all members agree on an element for each cut
// and count what is less. Of elements equal to the one at a cut, those of earlier members come first.
// Who may call: the tasks of the team, together. Switches tasks. Expected O(log size) rounds of two reductions of O(cuts)
// numbers, for most data less than ten. Source: Floyd, Rivest, "Expected time bounds for selection" (1975).
// Shown by tests/cluster/sort_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "shoal/random.hpp"
#include "shoal/team.hpp"

namespace shoal::detail {

/// A member's proposal for a cut, and how many elements it stands for.
template <class T>
struct cut_proposal {
  T element;
  std::uint64_t weight;
};

/// The state of the search for one cut on one member.
struct cut_search {
  std::uint64_t low = 0;  // the cut lies in [low, high] of this member's elements
  std::uint64_t high = 0;
  std::uint64_t before = 0;  // of the elements between low and high of all members, so many are before the cut
  std::uint64_t inside = 0;  // the number of these
  std::uint64_t equal = 0;   // behind low; found: all these equal the element at the cut
  bool found = false;

  void end_at(std::uint64_t place) noexcept {
    low = high = place;
    before = 0;
    found = true;
  }
  /// `less`, `more`: of this member, up to and behind the elements equal to the agreed one. all_: of all members.
  void narrow(std::uint64_t less, std::uint64_t more, std::uint64_t all_less, std::uint64_t all_more) noexcept {
    if (before == all_less) {
      end_at(less);
    } else if (before == all_more) {
      end_at(more);
    } else if (before < all_less) {
      high = less;
      inside = all_less;
    } else if (before > all_more) {
      low = more;
      before -= all_more;
      inside -= all_more;
    } else {
      low = less;
      before -= all_less;
      equal = more - less;
      found = true;
    }
  }
};

/// Returns goals.size() ascending places in `own`: before place k lie, on all members together, goals[k] elements, which
/// are not greater than those behind. `goals` ascend, and are the same on all members.
template <class T, class Less>
std::vector<std::uint64_t> find_cuts(team& t, std::span<const T> own, std::span<const std::uint64_t> goals,
                                     const Less& less) {
  const std::uint64_t size = t.all_reduce(std::uint64_t{own.size()}, std::plus<>{});
  std::vector<cut_search> searches(goals.size());
  for (std::size_t k = 0; k < goals.size(); ++k) {
    cut_search& s = searches[k];
    s.high = own.size();
    s.before = goals[k];
    s.inside = size;
    if (goals[k] == 0) s.end_at(0);
    if (goals[k] == size) s.end_at(own.size());
  }
  std::vector<cut_proposal<T>> proposals(goals.size());
  std::vector<std::uint64_t> counts(2 * goals.size());
  for (std::uint64_t round = 0; std::ranges::any_of(searches, [](const cut_search& s) { return !s.found; }); ++round) {
    for (std::size_t k = 0; k < goals.size(); ++k) {
      const cut_search& s = searches[k];
      const std::uint64_t width = s.found ? 0 : s.high - s.low;
      proposals[k] = {};
      if (width == 0) continue;
      // Where the cut would be if all members' elements were alike; every third time the middle, for others.
      const double share =
          round % 3 == 2 ? 0.5
                         : static_cast<double>(s.before) / static_cast<double>(std::max<std::uint64_t>(s.inside, 1));
      const auto step = static_cast<std::uint64_t>(share * static_cast<double>(width));
      proposals[k] = {own[s.low + std::min(step, width - 1)], width};
    }
    // Each proposal with the probability of its weight.
    t.all_reduce(std::span(proposals), [round](const cut_proposal<T>& a, const cut_proposal<T>& b) {
      const std::uint64_t weight = a.weight + b.weight;
      if (weight == 0) return a;
      const bool first = mix64(a.weight * 0x9e3779b97f4a7c15u + b.weight + round) % weight < a.weight;
      return cut_proposal<T>{first ? a.element : b.element, weight};
    });
    for (std::size_t k = 0; k < goals.size(); ++k) {
      const cut_search& s = searches[k];
      counts[2 * k] = counts[2 * k + 1] = 0;
      if (s.found) continue;
      const T* const low = own.data() + s.low;
      const T* const high = own.data() + s.high;
      const T& element = proposals[k].element;
      const T* const equal = std::lower_bound(low, high, element, less);
      counts[2 * k] = static_cast<std::uint64_t>(equal - low);
      counts[2 * k + 1] = static_cast<std::uint64_t>(std::upper_bound(equal, high, element, less) - low);
    }
    std::vector<std::uint64_t> all = counts;
    t.all_reduce(std::span(all), std::plus<>{});
    for (std::size_t k = 0; k < goals.size(); ++k) {
      cut_search& s = searches[k];
      if (!s.found) s.narrow(s.low + counts[2 * k], s.low + counts[2 * k + 1], all[2 * k], all[2 * k + 1]);
    }
  }
  // Of the equal ones at a cut each member gives what those before it leave.
  std::vector<std::uint64_t> earlier(goals.size());
  for (std::size_t k = 0; k < goals.size(); ++k) earlier[k] = searches[k].equal;
  t.exscan(std::span(earlier), std::plus<>{});
  std::vector<std::uint64_t> cuts(goals.size());
  for (std::size_t k = 0; k < goals.size(); ++k) {
    const cut_search& s = searches[k];
    cuts[k] = s.low + std::min(s.equal, s.before - std::min(s.before, earlier[k]));
  }
  return cuts;
}

}  // namespace shoal::detail
