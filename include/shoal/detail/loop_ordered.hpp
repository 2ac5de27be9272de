// SPDX-License-Identifier: Apache-2.0
// Reductions whose result depends on the range alone: fixed chunks, each gone through in order by one task, results
// combined in order by the caller.
// Who may call: tasks, through shoal/loop.hpp. It switches as loops do.
// Guarantees: the same calls of combine with the same values, whatever the workers. Shown by
// tests/unit/sched/parallel_reduce_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "shoal/detail/loop_run.hpp"

namespace shoal::detail {

inline constexpr std::uint64_t k_ordered_chunks = 1024;

/// The chunks of a range: of `grain` iterations at most; 0: at most k_ordered_chunks.
template <class Range>
struct ordered_chunks {
  tiling<Range> cut;

  ordered_chunks(const Range& range, std::uint64_t grain) noexcept
      : cut(grain != 0 ? tiling<Range>::of_size(range, grain) : tiling<Range>::of_count(range, k_ordered_chunks)) {}
  std::uint64_t count() const noexcept { return cut.tiles(); }
  Range part(std::uint64_t k) const noexcept { return cut.tile(k); }

  template <class Call>
  void each(std::uint64_t k, Call&& call) const {
    const Range part = cut.tile(k);
    const auto rows_and_columns = [&](const auto&... page) {
      const range1d& rows = part.side(Range::k_sides - 2);
      const range1d& columns = part.side(Range::k_sides - 1);
      for (std::uint64_t i = rows.begin(); i < rows.end(); ++i)
        for (std::uint64_t j = columns.begin(); j < columns.end(); ++j) call(page..., i, j);
    };
    if constexpr (Range::k_sides == 2) {
      rows_and_columns();
    } else {
      for (std::uint64_t p = part.side(0).begin(); p < part.side(0).end(); ++p) rows_and_columns(p);
    }
  }
};

template <class Index>
struct ordered_chunks<number_range<Index>> {
  number_range<Index> range;
  std::uint64_t grain;

  ordered_chunks(const number_range<Index>& r, std::uint64_t g) noexcept
      : range(r), grain(std::max(g != 0 ? g : (r.size() - 1) / k_ordered_chunks + 1, r.grain)) {}
  std::uint64_t count() const noexcept { return (range.size() - 1) / grain + 1; }
  range1d part(std::uint64_t k) const noexcept {
    SHOAL_ASSERT(!(range.begin < Index{}),
                 "a body that takes parts of a range takes them from numbers that are not negative");
    const auto begin = static_cast<std::uint64_t>(range.begin) + k * grain;
    return {begin, begin + std::min(grain, range.size() - k * grain)};
  }
  template <class Call>
  void each(std::uint64_t k, Call&& call) const {
    const std::uint64_t count = std::min(grain, range.size() - k * grain);
    for (std::uint64_t i = 0; i < count; ++i) call(numbers<Index>{range.begin}.at(k * grain + i));
  }
};

/// Goes through the chunks [first, last): store(k, what chunk k gives), for all that begin.
template <bool Stoppable, class T, class Range, class Body, class Combine, class Store>
void run_chunks(const ordered_chunks<Range>& chunks, std::uint64_t first, std::uint64_t last, const T& identity,
                const Body& body, const Combine& combine, const loop_plan& plan, const Store& store) {
  const auto chunk = [&](std::uint64_t k) {
    T sum = identity;
    const adder<T, Body, Combine> add{body, combine, sum};
    if constexpr (index_body<Body, Range>)
      chunks.each(k, add);
    else
      add(chunks.part(k));
    store(k, std::move(sum));
  };
  loop_plan of_chunks = plan;
  if (plan.how == loop_plan::kind::simple) of_chunks.how = loop_plan::kind::automatic;  // its grain counts iterations
  run_for<Stoppable>(number_range<std::uint64_t>{first, last}, chunk, of_chunks);
}

template <bool Stoppable, class T, class Range, class Body, class Combine>
T run_ordered_reduce(const Range& range, const T& identity, const Body& body, const Combine& combine,
                     std::uint64_t grain, const loop_plan& plan) {
  const ordered_chunks<Range> chunks(range, grain);
  std::vector<std::optional<T>> results(chunks.count());
  run_chunks<Stoppable>(chunks, 0, chunks.count(), identity, body, combine, plan,
                        [&results](std::uint64_t k, T&& sum) { results[k].emplace(std::move(sum)); });
  T total = identity;
  for (auto& r : results)
    if (r) total = combine(std::move(total), std::move(*r));
  return total;
}

}  // namespace shoal::detail
