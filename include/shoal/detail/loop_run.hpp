// SPDX-License-Identifier: Apache-2.0
// From a range, a body and a partitioner to a loop of the engine: what bodies are called with, how long chunks are,
// where partial results meet.
// Who may call: tasks, through shoal/loop.hpp and shoal/parallel_for.hpp. It switches as loops do.
// Guarantees: those of shoal/loop.hpp. Shown by tests/unit/sched/parallel_for_test.cpp, parallel_reduce_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shoal/detail/loop_plan.hpp"
#include "shoal/detail/loop_space.hpp"
#include "shoal/partition.hpp"
#include "shoal/sync.hpp"

namespace shoal::detail {

/// [begin, end).
template <std::integral Index>
struct number_range {
  Index begin;
  Index end;
  std::uint64_t grain = 1;

  template <std::integral First, std::integral Last>
  number_range(First first, Last last) noexcept : begin(static_cast<Index>(first)), end(static_cast<Index>(last)) {
    SHOAL_ASSERT(holds(first) && holds(last),
                 "a loop's bounds are of mixed signs, and their common type does not hold the negative one; give both "
                 "the same signed type");
  }
  explicit number_range(const range1d& r) noexcept : begin(r.begin()), end(r.end()), grain(r.grain()) {}

  bool empty() const noexcept { return !(begin < end); }
  std::uint64_t size() const noexcept {
    using wide = std::make_unsigned_t<Index>;
    return static_cast<wide>(static_cast<wide>(end) - static_cast<wide>(begin));
  }

private:
  template <class Bound>
  static constexpr bool holds([[maybe_unused]] Bound bound) noexcept {
    if constexpr (std::is_signed_v<Bound> && std::is_unsigned_v<Index>)
      return bound >= 0;
    else
      return true;
  }
};

template <class Range>
struct part_of {
  using type = Range;
};
template <class Index>
struct part_of<number_range<Index>> {
  using type = range1d;
};

// --- how bodies may be called ---

template <class Body, class Range>
struct calls_with_index;
template <class Body, class Index>
struct calls_with_index<Body, number_range<Index>> : std::is_invocable<const Body&, Index> {};
template <class Body>
struct calls_with_index<Body, range2d> : std::is_invocable<const Body&, std::uint64_t, std::uint64_t> {};
template <class Body>
struct calls_with_index<Body, range3d> : std::is_invocable<const Body&, std::uint64_t, std::uint64_t, std::uint64_t> {};

template <class Body, class Range>
concept index_body = calls_with_index<Body, Range>::value;
template <class Body, class Range>
concept part_body = std::invocable<const Body&, const typename part_of<Range>::type&>;
template <class Body, class Range, class T>
concept fold_body = std::is_invocable_r_v<T, const Body&, const typename part_of<Range>::type&, T>;

template <class Range>
using engine_range = std::conditional_t<std::same_as<Range, range1d>, number_range<std::uint64_t>, Range>;

template <class Body, class Range>
concept for_body = index_body<Body, engine_range<Range>> || part_body<Body, engine_range<Range>>;
template <class Body, class Range, class T>
concept value_body = index_body<Body, engine_range<Range>> || part_body<Body, engine_range<Range>> ||
    fold_body<Body, engine_range<Range>, T>;

// --- loops ---

// What a loop decides at its beginning depends on the plan and sizes alone: it is compiled once, not for every body.
// `takes_parts`: the body takes chunks as ranges.
/// Runs a loop over `size` numbers; `least`: the grain of its range.
void run_numbers(local_loop& loop, const loop_plan& plan, std::uint64_t size, std::uint64_t least, bool takes_parts);
tiling<range2d> tiles_for(const range2d& box, const loop_plan& plan, bool takes_parts) noexcept;
tiling<range3d> tiles_for(const range3d& box, const loop_plan& plan, bool takes_parts) noexcept;
/// Runs a loop over the tiles of a box.
void run_tiles(local_loop& loop, const loop_plan& plan, const range2d& box, const tiling<range2d>& cut,
               bool takes_parts);
void run_tiles(local_loop& loop, const loop_plan& plan, const range3d& box, const tiling<range3d>& cut,
               bool takes_parts);

/// Runs a loop whose pieces are Loop::piece(loop): numbers.
template <class Loop, class Index, class... Rest>
void run_over(const number_range<Index>& range, const loop_plan& plan, Rest&... rest) {
  const Loop pieces{numbers<Index>{range.begin}, rest...};
  local_loop loop;
  loop.body = &pieces;
  loop.piece = Loop::piece;
  run_numbers(loop, plan, range.size(), range.grain, Loop::k_takes_parts);
}

/// The same: boxes.
template <class Loop, class Box, class... Rest>
requires loop_range<Box>
void run_over(const Box& box, const loop_plan& plan, Rest&... rest) {
  const Loop pieces{tiles<Box>{tiles_for(box, plan, Loop::k_takes_parts)}, rest...};
  local_loop loop;
  loop.body = &pieces;
  loop.piece = Loop::piece;
  run_tiles(loop, plan, box, pieces.space.cut, Loop::k_takes_parts);
}

/// How a piece holds a body while it runs: a small plain one as its own copy, which the compiler sees that no store
/// changes.
template <class Body>
concept small_and_plain = std::is_trivially_copyable_v<Body> && std::is_copy_constructible_v<Body> &&
                          sizeof(Body) <= 64;
template <class Body>
using held = std::conditional_t<small_and_plain<Body>, const Body, const Body&>;

template <class Space, class Range, class Body, bool Stoppable>
struct for_loop {
  static constexpr bool k_takes_parts = !index_body<Body, Range>;
  Space space;
  const Body& body;

  static void piece(const void* raw, loop_frame& frame) {
    const auto& self = *static_cast<const for_loop*>(raw);
    const held<Body> body = self.body;
    while (next_chunk(frame)) {
      if constexpr (k_takes_parts)
        self.space.tile(frame, body);
      else
        self.space.template each<Stoppable>(frame, body);
    }
  }
};

template <class Range>
struct space_of {
  using type = tiles<Range>;
};
template <class Index>
struct space_of<number_range<Index>> {
  using type = numbers<Index>;
};

/// A call of the body that may continue on another worker, after the piece that began it has ended.
template <class Body, class... Where>
struct movable_iteration final : task {
  loop_state& loop;
  const Body& body;
  std::tuple<Where...> where;

  movable_iteration(loop_state& l, const Body& b, const Where&... at) noexcept : loop(l), body(b), where(at...) {}

  static void call(task& t) noexcept {
    const movable_iteration self = static_cast<const movable_iteration&>(t);
    release_to(&t);  // partner: begin_iteration(), which ends the life of `t`
    std::exception_ptr thrown;
    try {
      std::apply(self.body, self.where);
    } catch (...) {
      thrown = std::current_exception();
    }
    end_iteration(self.loop, std::move(thrown));
  }
};

template <class Space, class Range, class Body, bool Stoppable>
struct movable_loop {
  static constexpr bool k_takes_parts = !index_body<Body, Range>;
  Space space;
  const Body& body;

  static void piece(const void* raw, loop_frame& frame) {
    const auto& self = *static_cast<const movable_loop*>(raw);
    const auto begin = [&frame, &self]<class... Where>(const Where&... where) {
      using iteration = movable_iteration<Body, Where...>;
      iteration i(*frame.loop, self.body, where...);
      begin_iteration(frame, i, iteration::call);
    };
    while (next_chunk(frame)) {
      if constexpr (k_takes_parts)
        self.space.tile(frame, begin);
      else
        self.space.template each<Stoppable>(frame, begin);
    }
  }
};

template <bool Stoppable, bool Movable = false, class Range, class Body>
void run_for(const Range& range, const Body& body, const loop_plan& plan) {
  using space = typename space_of<Range>::type;
  using loop =
      std::conditional_t<Movable, movable_loop<space, Range, Body, Stoppable>, for_loop<space, Range, Body, Stoppable>>;
  run_over<loop>(range, plan, body);
}

// --- reductions ---

/// Where pieces leave what they have combined.
template <class T, class Combine>
class combined_result {
public:
  // Two at a time, outside the lock: values may be large.
  void merge(T value, const Combine& combine) {
    for (;;) {
      std::optional<T> other;
      {
        const std::lock_guard hold(guard_);
        if (!value_) {
          value_.emplace(std::move(value));
          return;
        }
        other.swap(value_);
      }
      value = combine(std::move(*other), std::move(value));
    }
  }
  std::optional<T>& value() noexcept { return value_; }

private:
  mutex guard_;
  std::optional<T> value_;
};

/// sum = sum + the body's value for an index or a part.
template <class T, class Body, class Combine>
struct adder {
  const Body& body;
  const Combine& combine;
  T& sum;
  template <class... Where>
  void operator()(const Where&... where) const {
    if constexpr (std::is_invocable_v<const Body&, const Where&...>) {
      static_assert(
          !std::is_integral_v<T> || !std::is_floating_point_v<std::invoke_result_t<const Body&, const Where&...>>,
          "the identity of this reduction is an integer and its body gives fractions, which would be cut off; "
          "write 0.0 instead of 0");
      sum = combine(std::move(sum), static_cast<T>(body(where...)));
    } else {
      sum = body(where..., std::move(sum));
    }
  }
};

template <class T, class Space, class Range, class Body, class Combine, bool Stoppable>
struct reduce_loop {
  static constexpr bool k_takes_parts = !index_body<Body, Range>;
  Space space;
  const Body& body;
  const Combine& combine;
  const T& identity;
  combined_result<T, Combine>& total;

  static void piece(const void* raw, loop_frame& frame) {
    const auto& self = *static_cast<const reduce_loop*>(raw);
    const held<Body> body = self.body;
    const held<Combine> combine = self.combine;
    T sum = self.identity;
    while (next_chunk(frame)) {
      const adder<T, Body, Combine> add{body, combine, sum};
      if constexpr (k_takes_parts)
        self.space.tile(frame, add);
      else
        self.space.template each<Stoppable>(frame, add);
    }
    self.total.merge(std::move(sum), combine);
  }
};

template <bool Stoppable, class T, class Range, class Body, class Combine>
T run_reduce(const Range& range, const T& identity, const Body& body, const Combine& combine, const loop_plan& plan) {
  using pieces = reduce_loop<T, typename space_of<Range>::type, Range, Body, Combine, Stoppable>;
  combined_result<T, Combine> total;
  run_over<pieces>(range, plan, body, combine, identity, total);
  return total.value() ? std::move(*total.value()) : identity;
}

}  // namespace shoal::detail
