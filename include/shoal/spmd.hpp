// SPDX-License-Identifier: Apache-2.0
// One call of a body per node, with collective operations: for phases in which each node works on its own part.
//   shoal::spmd([=](shoal::team& t) { ...; t.barrier(); auto sum = t.reduce(mine, std::plus<>{}); ... });
// Who may call: tasks. Collectives switch; every member calls the same ones in the same order.
// Guarantees: after a barrier, all members see the effects of bare verbs and completed async verbs before it. A
// reduction combines in ascending order of nodes and returns the same value to all members.
// Algorithms: a dissemination barrier (Hensgen, Finkel, Manber 1988), binomial trees for the others; O(log nodes)
// rounds. If a member throws between collectives, the others may wait for it without end: catch exceptions in the body.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "shoal/detail/loop.hpp"
#include "shoal/on.hpp"

namespace shoal {

namespace detail {
class team_state;
team_state& enter_team(std::uint64_t id);
void leave_team(std::uint64_t id) noexcept;
std::uint64_t new_team_id() noexcept;
}  // namespace detail

class team {
public:
  explicit team(detail::team_state& state) noexcept : state_(state) {}

  std::uint32_t size() const noexcept { return node_count(); }
  std::uint32_t rank() const noexcept { return node_id(); }

  void barrier();

  /// Combines the members' values; every member gets the result.
  template <class T, class Combine>
  T reduce(const T& value, const Combine& combine) {
    constexpr std::size_t k_words = detail::packed<T>::k_words;
    std::array<std::uint64_t, k_words> words;
    const auto fold = [&](const std::uint64_t* other) {
      const T mine = detail::packed<T>::read(words.data());
      detail::packed<T>::write(combine(mine, detail::packed<T>::read(other)), words.data());
    };
    detail::packed<T>::write(value, words.data());
    up(words.data(), k_words, &call_fold<decltype(fold)>, &fold);
    down(0, words.data(), k_words);
    return detail::packed<T>::read(words.data());
  }

  /// Returns the value of member `root` to all members.
  template <class T>
  T broadcast(const T& value, std::uint32_t root = 0) {
    constexpr std::size_t k_words = detail::packed<T>::k_words;
    std::array<std::uint64_t, k_words> words;
    detail::packed<T>::write(value, words.data());
    down(root, words.data(), k_words);
    return detail::packed<T>::read(words.data());
  }

private:
  using fold_function = void (*)(const void* fold, const std::uint64_t* other);
  template <class Fold>
  static void call_fold(const void* fold, const std::uint64_t* other) {
    (*static_cast<const Fold*>(fold))(other);
  }
  void up(std::uint64_t* words, std::size_t count, fold_function function, const void* fold);
  void down(std::uint32_t root, std::uint64_t* words, std::size_t count);

  detail::team_state& state_;
};

namespace detail {

template <class F>
std::size_t run_member(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  struct membership {
    std::uint64_t id;
    team_state& state;
    explicit membership(std::uint64_t i) : id(i), state(enter_team(i)) { set_outermost(true); }
    ~membership() {
      set_outermost(false);
      leave_team(id);
    }
  } member(arguments[0]);
  team t(member.state);
  const F f = packed<F>::read(arguments.data() + 1);
  f(t);
  return 0;
}

}  // namespace detail

/// Runs body(team&) once on each node; returns when all have ended. Throws the first exception as shoal::remote_error.
template <class F>
void spmd(const F& body) {
  static_assert(std::is_invocable_v<const F&, team&>, "the body is called with its team");
  detail::check_capture(body);
  std::array<std::uint64_t, 1 + detail::packed<F>::k_words> words;
  words[0] = detail::new_team_id();
  detail::packed<F>::write(body, words.data() + 1);
  detail::completion calls;
  for (std::uint32_t n = 0; n < node_count(); ++n) detail::begin_call(calls, n, detail::run_member<F>, words);
  calls.wait_and_rethrow();
}

}  // namespace shoal
