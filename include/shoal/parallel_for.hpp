// SPDX-License-Identifier: Apache-2.0
// Loops and reductions over the nodes and their workers: those of shoal/loop.hpp with a place (shoal/place.hpp) in
// front. The options follow the body in any order; those of a reduction follow combine. Example:
//   parallel_for(everywhere, n, body);
//   parallel_for(owners_of(array), first, last, body, simple_partitioner{8});
//   parallel_for(elsewhere, range2d(...), body, token);
//   parallel_for(anywhere, n, body, simple_partitioner{1});
//   double sum = parallel_reduce(everywhere, n, 0.0, body, combine, deterministic);
// Who may call: tasks; loops nest. They switch, and so may the body.
// Guarantees: a loop returns when all iterations have ended and all that they began asynchronously is complete. One
// message per node and loop; within a node workers divide their share lazily. Many iterations wait at once, bounded by
// memory. Each node runs its share as shoal/loop.hpp says; at `anywhere` parts move to idle nodes. The first exception ends
// the share of its node early; when all have ended, the loop throws one of them as shoal::remote_error: this node's own if
// there is one, else the first that arrived; the others are logged. A loop at `here` throws the exception itself.
// Source: GMT's parFor (Morari 2014, chapter 5). Shown by tests/cluster/loop_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "shoal/detail/loop_anywhere.hpp"
#include "shoal/detail/loop_nodes.hpp"
#include "shoal/loop.hpp"
#include "shoal/place.hpp"

namespace shoal {

namespace detail {

template <class... Options>
inline constexpr bool has_affinity = (std::same_as<std::remove_cvref_t<Options>, affinity_partitioner> || ...);

/// Options that loops of one node take and loops over nodes do not.
template <class Place, class Range, class Body, class... Options>
constexpr void check_spread() {
  static_assert(!std::is_function_v<Body>,
                "the body of a loop over nodes is a function object: wrap the function in a lambda");
  static_assert(
      !has_affinity<Options...>,
      "an affinity_partitioner remembers the workers of one node: use it with shoal::here, or without a place");
  static_assert(!is_owners_of<Place> || !loop_range<Range>,
                "owners_of(array) goes with the indices of the array, which are numbers; for boxes there is "
                "shoal::everywhere");
  static_assert(!is_owners_of<Place> || index_body<Body, Range>,
                "with owners_of(array) a body takes an index: the iterations of a node need not follow each other");
}

template <class Place, class Range, class Body, class... Options>
void for_at(const Place& place, const Range& range, const Body& body, Options&&... options) {
  constexpr bool k_stoppable = has_token<Options...>;
  if constexpr (!for_body<Body, Range> || !(loop_option<Options> && ...)) {
    explain_refusal<false, Body, Options...>();
  } else if constexpr (std::same_as<Place, here_t>) {
    if (!range.empty()) run_for<k_stoppable, is_movable<Options...>>(range, body, plan_of(options...));
  } else if constexpr (std::same_as<Place, anywhere_t>) {
    static_assert(!loop_range<Range>, "a loop at anywhere runs over numbers; for boxes there is shoal::everywhere");
    static_assert(!std::is_function_v<Body>,
                  "the body of a loop over nodes is a function object: wrap the function in a lambda");
    static_assert(
        (anywhere_option<Options> && ...),
        "a loop at anywhere takes auto_partitioner or simple_partitioner, and in_scope; for other options there is "
        "shoal::everywhere");
    if constexpr (!loop_range<Range>) run_for_anywhere(range, body, plan_of(options...));
  } else {
    check_spread<Place, Range, Body, Options...>();
    run_for_at<k_stoppable, is_movable<Options...>>(place, range, body, plan_of(options...));
  }
}

template <class Place, class Range, class T, class Body, class Combine, class... Options>
T reduce_at(const Place& place, const Range& range, const T& identity, const Body& body, const Combine& combine,
            Options&&... options) {
  if constexpr (!value_body<Body, Range, T> || !(reduce_option<Options> && ...)) {
    explain_refusal<true, Body, Options...>();
    return identity;
  } else if constexpr (std::same_as<Place, here_t>) {
    return range.empty() ? identity : reduce_with(range, identity, body, combine, options...);
  } else if constexpr (std::same_as<Place, anywhere_t>) {
    static_assert(!std::same_as<Place, anywhere_t>,
                  "there is no reduction at anywhere: add into a shoal::node_local or a shoal::global_counter in a "
                  "parallel_for, or use shoal::everywhere");
    return identity;
  } else {
    check_spread<Place, Range, Body, Options...>();
    static_assert(!std::is_function_v<Combine>,
                  "the combiner of a loop over nodes is a function object: wrap the function in a lambda");
    static_assert(std::is_invocable_r_v<T, const Combine&, T, T>, "the combiner makes one value of two");
    constexpr bool k_stoppable = has_token<Options...>;
    constexpr bool k_fixed = (std::same_as<std::remove_cvref_t<Options>, deterministic_t> || ...);
    const auto plan = plan_of<reduce_plan>(options...);
    const spread_reduction<T, Range, Body, Combine> work{range, body, combine, identity,
                                                         k_fixed ? plan.fixed->grain : 0};
    if constexpr (k_fixed && !is_owners_of<Place>)
      return run_chunks_at<k_stoppable>(place, work, plan);
    else
      return run_reduce_at<k_stoppable, k_fixed>(place, work, plan);
  }
}

}  // namespace detail

/// Runs body(i) for all i of [first, last) at `place`; at `here` as without a place. At other places nodes run copies
/// of the body: it is trivially copyable and below 11 KiB, and captures values and array references, no pointers or
/// references to memory of this node. A body that takes parts gets parts of a node's share. A request to stop, made on
/// this node, is forwarded to all nodes of the loop. The loop starts with one message to each other node of the place.
/// At `anywhere` (numbers only; options: a simple_partitioner, in_scope) the loop begins here, and nodes that have
/// nothing to do take parts of it (shoal/anywhere.hpp): for iterations of very different lengths. An iteration that waits
/// there delays the rest of its part, so iterations must not wait for each other.
///   shoal::parallel_for(shoal::everywhere, 0, n, [a = array.ref()](std::uint64_t i) { a.async_add(i % 8, 1); });
template <loop_place Place, std::integral First, std::integral Last, class Body, class... Options>
void parallel_for(const Place& place, First first, Last last, const Body& body, Options&&... options) {
  detail::for_at(place, detail::numbers_between<First, Last>(first, last), body, std::forward<Options>(options)...);
}
/// The same for all i of [0, n).
template <loop_place Place, std::integral N, class Body, class... Options>
requires(!std::integral<Body>) void parallel_for(const Place& place, N n, const Body& body, Options&&... options) {
  parallel_for(place, N{0}, n, body, std::forward<Options>(options)...);
}
/// The same for the points or parts of a range; of a box the first side is divided among the nodes.
template <loop_place Place, loop_range Range, class Body, class... Options>
void parallel_for(const Place& place, const Range& range, const Body& body, Options&&... options) {
  detail::for_at(place, detail::engine_range<Range>(range), body, std::forward<Options>(options)...);
}

/// Combines the values of body(i) for all i of [first, last), as the reduction of shoal/loop.hpp on each node, and
/// then the nodes' values, neighbours with neighbours in ascending order of the nodes (at owners_of a part of an array: in
/// the order of its parts). With `deterministic` the chunks are those of the whole range, divided among the nodes: neither
/// the number of workers nor that of nodes changes a bit, and the result is that of the same reduction at `here`. At
/// owners_of(array) the chunks are those of each node's share, and the result depends on the number of nodes. Values, body
/// and combiner travel: trivially copyable, together below 11 KiB.
///   auto sum = shoal::parallel_reduce(shoal::everywhere, n, 0.0, [=](auto i) { return f(i); }, std::plus<>());
template <loop_place Place, std::integral First, std::integral Last, class T, class Body, class Combine,
          class... Options>
requires detail::identity_value<T, First, Last> T parallel_reduce(const Place& place, First first, Last last,
                                                                  T identity, const Body& body, const Combine& combine,
                                                                  Options&&... options) {
  return detail::reduce_at(place, detail::numbers_between<First, Last>(first, last), identity, body, combine,
                           std::forward<Options>(options)...);
}
/// The same for all i of [0, n).
template <loop_place Place, std::integral N, class T, class Body, class Combine, class... Options>
requires(!std::integral<T> || detail::takes_positions<Body, N, T>) T
    parallel_reduce(const Place& place, N n, T identity, const Body& body, const Combine& combine,
                    Options&&... options) {
  return detail::reduce_at(place, detail::number_range<N>(N{0}, n), identity, body, combine,
                           std::forward<Options>(options)...);
}
/// The same over a range.
template <loop_place Place, loop_range Range, class T, class Body, class Combine, class... Options>
T parallel_reduce(const Place& place, const Range& range, T identity, const Body& body, const Combine& combine,
                  Options&&... options) {
  return detail::reduce_at(place, detail::engine_range<Range>(range), identity, body, combine,
                           std::forward<Options>(options)...);
}

}  // namespace shoal
