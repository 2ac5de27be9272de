// SPDX-License-Identifier: Apache-2.0
// The options of a loop: which there are, and what they say together.
// Who may call: tasks, through the headers that have loops. Nothing switches.
// Shown by tests/unit/sched/parallel_for_test.cpp, stop_scope_test.cpp.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <type_traits>

#include "shoal/detail/scope.hpp"
#include "shoal/movable.hpp"
#include "shoal/partition.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal::detail {

/// An affinity_partitioner that the loop cannot write to, or that is gone after it.
template <class T>
concept kept_for_nothing =
    std::same_as<std::remove_cvref_t<T>, affinity_partitioner> && !std::same_as<T, affinity_partitioner&>;
template <class T>
concept loop_option =
    (partitioner<std::remove_cvref_t<T>> && !kept_for_nothing<T>) ||
    std::same_as<std::remove_cvref_t<T>, std::stop_token> || std::same_as<std::remove_cvref_t<T>, stack_bytes> ||
    std::same_as<std::remove_cvref_t<T>, movable_t> || std::same_as<std::remove_cvref_t<T>, in_scope_t>;

struct loop_plan {
  enum class kind : std::uint8_t { automatic, simple, shares, affinity };
  kind how = kind::automatic;
  std::uint64_t grain = 0;
  affinity_partitioner* affinity = nullptr;
  const std::stop_token* stop = nullptr;
  std::size_t stack_bytes = 0;

  void take(const auto_partitioner&) noexcept { how = kind::automatic; }
  void take(const simple_partitioner& p) noexcept {
    how = kind::simple;
    grain = std::max<std::uint64_t>(p.grain, 1);
  }
  void take(const static_partitioner&) noexcept { how = kind::shares; }
  void take(affinity_partitioner& p) noexcept {
    how = kind::affinity;
    affinity = &p;
  }
  void take(const std::stop_token& t) noexcept { stop = &t; }
  void take(const in_scope_t&) noexcept { stop = stop_of_scope(); }
  void take(const shoal::stack_bytes& s) noexcept { stack_bytes = s.value(); }
  void take(const movable_t&) noexcept {}  // a type of loop of its own
};

template <class... Options>
inline constexpr bool has_token = (std::same_as<std::remove_cvref_t<Options>, std::stop_token> || ...);

template <class... Options>
inline constexpr bool is_movable = (std::same_as<std::remove_cvref_t<Options>, movable_t> || ...);
template <class... Options>
inline constexpr bool has_stack_bytes = (std::same_as<std::remove_cvref_t<Options>, stack_bytes> || ...);

template <class... Options>
inline constexpr bool is_in_scope = (std::same_as<std::remove_cvref_t<Options>, in_scope_t> || ...);

/// `Plan`: loop_plan, or what takes more options than that.
template <class Plan = loop_plan, class... Options>
Plan plan_of(Options&... options) noexcept {
  static_assert(!is_movable<Options...> || !has_stack_bytes<Options...>,
                "movable iterations run on stacks of the ordinary size: a loop takes stack_bytes or movable, not both");
  static_assert(!is_in_scope<Options...> || !has_token<Options...>,
                "a loop takes shoal::in_scope or a std::stop_token, not both; a stop_scope that is made with the token "
                "stops with either");
  Plan plan;
  (plan.take(options), ...);
  return plan;
}

}  // namespace shoal::detail
