// SPDX-License-Identifier: Apache-2.0
// A pipeline: items go from a source through stages, several at the same time.
//   shoal::parallel_pipeline(16,                                                     // items at a time, at most
//       shoal::stage<void, std::string>(shoal::stage_mode::serial_in_order, [&] { return next_line(); }) &  // optional
//       shoal::stage<std::string, result>(shoal::stage_mode::parallel, [](std::string s) { return work(s); }) &
//       shoal::stage<result, void>(shoal::stage_mode::serial_in_order, [&](const result& r) { write(r); }));
// The source returns std::optional<Out>, or takes a flow_control& and returns Out. Stages are called as const, with an
// rvalue, and may wait. Who may call: tasks; calls nest; they switch. Guarantees: serial stages are called by one task
// at a time, in_order: in the source's order. An item goes through free stages on one worker; at a serial stage that is
// not free it is left, and no task waits. After an exception no stage is called again, and the call throws the first
// one when those that run have ended. After a request to stop (a std::stop_token or shoal::in_scope, last) the source ends.
// Source: oneTBB.
// Tests: tests/unit/sched/parallel_pipeline_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/pipeline_run.hpp"
#include "shoal/detail/scope.hpp"

namespace shoal {

/// Stages one behind the other: takes In, gives Out. Made by stage() and &.
template <class In, class Out, class... Steps>
class stages {
public:
  explicit stages(std::tuple<Steps...> steps) : steps_(std::move(steps)) {}
  const std::tuple<Steps...>& steps() const& noexcept { return steps_; }
  std::tuple<Steps...>&& steps() && noexcept { return std::move(steps_); }

private:
  std::tuple<Steps...> steps_;
};

namespace detail {

template <class In, class Out, class F>
struct is_stage : std::is_invocable_r<Out, const F&, In> {};
template <class Out, class F>
struct is_stage<void, Out, F> : std::bool_constant<std::is_invocable_r_v<Out, const F&, flow_control&> ||
                                                   std::is_invocable_r_v<std::optional<Out>, const F&>> {};
template <class F>
struct is_stage<void, void, F> : std::is_invocable<const F&, flow_control&> {};

template <class T>
inline constexpr bool is_item = std::is_void_v<T> || (std::is_object_v<T> && std::move_constructible<T>);

}  // namespace detail

/// A stage that makes an Out of each In. void as In: the source; as Out: the last stage.
template <class In, class Out, class F>
auto stage(stage_mode mode, F&& f) {
  using call = std::decay_t<F>;
  static_assert(detail::is_item<In> && detail::is_item<Out>,
                "items are objects that can be moved; give a pointer instead of a reference");
  static_assert(detail::is_stage<In, Out, call>::value,
                "a stage is called as const, so it is no mutable lambda, with an In, and gives an Out; a source "
                "returns std::optional<Out>, or takes a shoal::flow_control& and returns Out");
  using step = detail::pipeline_step<In, Out, call>;
  return stages<In, Out, step>(std::tuple<step>(step{mode, std::forward<F>(f)}));
}

/// The stages of `a`, and behind them those of `b`.
template <class In, class Given, class... First, class Taken, class Out, class... Then>
auto operator&(stages<In, Given, First...> a, stages<Taken, Out, Then...> b) {
  static_assert(std::same_as<Given, Taken> && !std::is_void_v<Given>,
                "a stage takes what the one before it gives: stage<A, B>(...) & stage<B, C>(...)");
  return stages<In, Out, First..., Then...>(std::tuple_cat(std::move(a).steps(), std::move(b).steps()));
}

namespace detail {

template <class In, class Out, class... Steps>
void run_pipeline(std::size_t tokens, const stages<In, Out, Steps...>& all, const std::stop_token* stop) {
  static_assert(std::is_void_v<In> && std::is_void_v<Out>,
                "a pipeline begins with a source, stage<void, T>, and ends with a stage<T, void>");
  SHOAL_ASSERT(tokens > 0, "a pipeline needs at least one token: the number of items that may exist at a time");
  pipeline_run<Steps...>(tokens, all.steps(), stop).run();
}

}  // namespace detail

/// Runs the pipeline until its source ends and all items have passed.
template <class In, class Out, class... Steps>
void parallel_pipeline(std::size_t tokens, const stages<In, Out, Steps...>& all) {
  detail::run_pipeline(tokens, all, nullptr);
}
/// The same; the source is not called any more once a stop is requested. What it has made passes all stages.
template <class In, class Out, class... Steps>
void parallel_pipeline(std::size_t tokens, const stages<In, Out, Steps...>& all, const std::stop_token& stop) {
  detail::run_pipeline(tokens, all, &stop);
}
template <class In, class Out, class... Steps>
void parallel_pipeline(std::size_t tokens, const stages<In, Out, Steps...>& all, in_scope_t) {
  detail::run_pipeline(tokens, all, detail::stop_of_scope());
}

}  // namespace shoal
