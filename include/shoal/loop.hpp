// SPDX-License-Identifier: Apache-2.0
// Parallel loops and reductions of one process: parallel_for(n, body), parallel_for(first, last, body),
// parallel_for(range, body), parallel_reduce(..., identity, body, combine); then, in any order, options: a partitioner,
// a std::stop_token or in_scope (stop_scope.hpp), a stack_bytes for each piece, `movable` (of parallel_for: movable.hpp), `deterministic`. With a place
// in front: shoal/parallel_for.hpp. The
// body takes the index (one number per side of the range) or a part of the range.
//   std::vector<double> x(n);  shoal::parallel_for(n, [&x](std::size_t i) { x[i] = f(i); });
// Who may call: tasks; loops may be nested. A call may switch tasks while iterations run and at the end.
// Guarantees: a loop returns when all iterations have ended and their asynchronous operations are complete. Iterations
// run concurrently, in any order, on a const body, or on copies of a small, trivially copyable body; data that they
// share is outside the body, and they synchronize their access. An iteration that waits delays no other iteration;
// where the body takes parts, it delays the rest of its part. After an exception no chunk starts, and the loop throws
// the first exception. After a request to stop no iteration starts (no chunk of a deterministic reduction), and the
// call returns normally: ask the token. Source: oneTBB's algorithms and partitioners.
// Tests: tests/unit/sched/parallel_for_test.cpp, parallel_reduce_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "shoal/detail/loop_ordered.hpp"
#include "shoal/detail/loop_run.hpp"
#include "shoal/partition.hpp"
#include "shoal/range.hpp"

namespace shoal {

/// For parallel_reduce: the result has the same bits for any number of workers and any timing. The chunks depend only
/// on the range and on `grain`, the largest number of iterations of a chunk (0: at most 1024 chunks). Within a chunk
/// the values are combined in order, starting with the identity; then the results of the chunks, in order, starting
/// with the identity. So combine need not be commutative or associative. The chunks of a box are tiles in the order in
/// which repeated halving makes them; the iterations of a tile run row by row.
struct deterministic_t {
  std::uint64_t grain = 0;
};
inline constexpr deterministic_t deterministic;

namespace detail {

template <class T>
concept reduce_option = (loop_option<T> && !is_movable<T>) || std::same_as<std::remove_cvref_t<T>, deterministic_t>;

template <std::integral First, std::integral Last>
using numbers_between = number_range<std::common_type_t<First, Last>>;

struct reduce_plan : loop_plan {
  const deterministic_t* fixed = nullptr;
  using loop_plan::take;
  void take(const deterministic_t& d) noexcept { fixed = &d; }
};

template <class>
inline constexpr bool never = false;

/// Whether F may be the body of a loop over Index. Distinguishes (n, identity, body, combine, option) from (first,
/// last, identity, body, combine).
template <class F, class Index, class T>
concept takes_positions = std::is_invocable_v<F&, Index> || std::is_invocable_v<F&, const range1d&> ||
    std::is_invocable_v<F&, const range1d&, T>;

template <class T, class First, class Last>
concept identity_value = !takes_positions<T, First, Last>;

/// The compiler's error message for arguments that no loop takes.
template <bool Reduces, class Body, class... Options>
void explain_refusal() {
  if constexpr (reduce_option<Body> || kept_for_nothing<Body>)
    static_assert(never<Body>, "a loop's options come last: behind the body, of a reduction behind combine");
  else if constexpr ((kept_for_nothing<Options> || ...))
    static_assert(never<Body>,
                  "an affinity_partitioner is kept from loop to loop: make it a variable, not const, and give that");
  else if constexpr ((std::integral<std::remove_cvref_t<Options>> || ...))
    static_assert(never<Body>, "a number is no option of a loop: write its grain as shoal::simple_partitioner{grain}");
  else if constexpr (!((Reduces ? reduce_option<Options> : loop_option<Options>)&&...))
    static_assert(never<Body>,
                  "what follows a loop's body are partitioners, a std::stop_token or shoal::in_scope, a "
                  "shoal::stack_bytes, shoal::movable if it is no reduction, and `deterministic` if it is one");
  else
    static_assert(never<Body>,
                  "a loop's body is called as const, so it is no mutable lambda, with the index (one number "
                  "per side of the range) or with a part of the range; of a reduction it gives a value");
}

template <class T, class Range, class Body, class Combine, class... Options>
T reduce_with(const Range& range, const T& identity, const Body& body, const Combine& combine, Options&... options) {
  static_assert(std::is_invocable_r_v<T, const Combine&, T, T>, "the combiner makes one value of two");
  constexpr bool k_stoppable = has_token<Options...>;
  const auto plan = plan_of<reduce_plan>(options...);
  if constexpr ((std::same_as<std::remove_cvref_t<Options>, deterministic_t> || ...))
    return run_ordered_reduce<k_stoppable>(range, identity, body, combine, plan.fixed->grain, plan);
  else
    return run_reduce<k_stoppable>(range, identity, body, combine, plan);
}

}  // namespace detail

/// Runs body(i) for all i of [first, last). i has the common type of both.
template <std::integral First, std::integral Last, class Body, detail::loop_option... Options>
requires detail::for_body<Body, detail::numbers_between<First, Last>>
void parallel_for(First first, Last last, const Body& body, Options&&... options) {
  const detail::numbers_between<First, Last> range(first, last);
  if (!range.empty())
    detail::run_for<detail::has_token<Options...>, detail::is_movable<Options...>>(range, body,
                                                                                   detail::plan_of(options...));
}

/// The same for all i of [0, n).
template <std::integral N, class Body, class... Options>
requires(!std::integral<Body>) void parallel_for(N n, const Body& body, Options&&... options) {
  parallel_for(N{0}, n, body, std::forward<Options>(options)...);
}

/// Runs body(i), body(i, j) or body(i, j, k) for all points of the range, or body(part) for parts of it.
template <loop_range Range, class Body, detail::loop_option... Options>
requires detail::for_body<Body, Range>
void parallel_for(const Range& range, const Body& body, Options&&... options) {
  if (!range.empty())
    detail::run_for<detail::has_token<Options...>, detail::is_movable<Options...>>(detail::engine_range<Range>(range),
                                                                                   body, detail::plan_of(options...));
}

/// These overloads take what the two above refuse; they do not compile, and the error message says why.
template <std::integral First, std::integral Last, class Body, class... Options>
void parallel_for(First, Last, const Body&, Options&&...) {
  detail::explain_refusal<false, Body, Options...>();
}
template <loop_range Range, class Body, class... Options>
void parallel_for(const Range&, const Body&, Options&&...) {
  detail::explain_refusal<false, Body, Options...>();
}

/// Combines body(i) for all i of [first, last), in any order and grouping unless `deterministic`. Every partial result
/// starts with `identity`, which must be neutral. A body that takes parts is called body(part), or body(part, value
/// so far).
template <std::integral First, std::integral Last, class T, class Body, class Combine, detail::reduce_option... Options>
requires(detail::value_body<Body, detail::numbers_between<First, Last>, T>&& detail::identity_value<T, First, Last>) T
    parallel_reduce(First first, Last last, T identity, const Body& body, const Combine& combine,
                    Options&&... options) {
  const detail::numbers_between<First, Last> range(first, last);
  if (range.empty()) return identity;
  return detail::reduce_with(range, identity, body, combine, options...);
}

/// The same for all i of [0, n).
template <std::integral N, class T, class Body, class Combine, class... Options>
requires(!std::integral<T> || detail::takes_positions<Body, N, T>) T
    parallel_reduce(N n, T identity, const Body& body, const Combine& combine, Options&&... options) {
  return parallel_reduce(N{0}, n, std::move(identity), body, combine, std::forward<Options>(options)...);
}

/// The same over a range, with body(i, j) and so on.
template <loop_range Range, class T, class Body, class Combine, detail::reduce_option... Options>
requires detail::value_body<Body, Range, T> T parallel_reduce(const Range& range, T identity, const Body& body,
                                                              const Combine& combine, Options&&... options) {
  if (range.empty()) return identity;
  return detail::reduce_with(detail::engine_range<Range>(range), identity, body, combine, options...);
}

/// These overloads take what the two above refuse; they do not compile, and the error message says why.
template <std::integral First, std::integral Last, class T, class Body, class Combine, class... Options>
requires detail::identity_value<T, First, Last> T parallel_reduce(First, Last, T identity, const Body&, const Combine&,
                                                                  Options&&...) {
  detail::explain_refusal<true, Body, Options...>();
  return identity;
}
template <loop_range Range, class T, class Body, class Combine, class... Options>
T parallel_reduce(const Range&, T identity, const Body&, const Combine&, Options&&...) {
  detail::explain_refusal<true, Body, Options...>();
  return identity;
}

}  // namespace shoal
