// SPDX-License-Identifier: Apache-2.0
// One call of a body per node, with collective operations: for phases in which each node works on its own part.
//   shoal::spmd([=](shoal::team& t) { ...; t.barrier(); auto sum = t.reduce(mine, std::plus<>{}); ... });
// Who may call: tasks. Collectives switch; every member calls the same ones in the same order.
// Guarantees: after a barrier, all members see the effects of bare verbs and completed async verbs before it. A
// reduction combines in ascending order of nodes and returns the same value to all members.
// Errors: if a member throws, or returns or calls another collective where others call one, every member that is in a
// collective, or calls one later, gets an exception: the remote_error of what was thrown, or shoal::error (mismatch)
// that names two members and what they do. So does the caller of spmd.
// Algorithms: a dissemination barrier (Hensgen, Finkel, Manber 1988), binomial trees for the others; O(log nodes)
// rounds. Each member tells its right neighbour what it calls: where members differ, two neighbours do.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "shoal/detail/loop.hpp"
#include "shoal/on.hpp"

namespace shoal {

namespace detail {
class team_state;
std::uint64_t new_team_id() noexcept;
/// Ends what members that failed have left on the nodes. After all members have ended.
void forget_team(std::uint64_t id);

/// A member on its node, from its beginning to its end.
class membership {
public:
  explicit membership(std::uint64_t id);
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  team_state& state() const noexcept { return state_; }
  /// In the handler of what the body has thrown: tells the other members.
  void tell_exception();
  /// The body has returned: throws if other members call a collective here, or have failed.
  void leave();
  /// Whether something of the team may arrive later.
  bool failed() const noexcept;

private:
  std::uint64_t id_;
  team_state& state_;
};

/// The collectives, as members compare them; `leave`: the end of the body.
enum class collective : std::uint8_t { barrier, reduce, broadcast, leave };
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
    begin(detail::collective::reduce, 0, k_words);
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
    begin(detail::collective::broadcast, root, k_words);
    down(root, words.data(), k_words);
    return detail::packed<T>::read(words.data());
  }

private:
  using fold_function = void (*)(const void* fold, const std::uint64_t* other);
  template <class Fold>
  static void call_fold(const void* fold, const std::uint64_t* other) {
    (*static_cast<const Fold*>(fold))(other);
  }
  void begin(detail::collective what, std::uint32_t root, std::size_t words);
  void up(std::uint64_t* words, std::size_t count, fold_function function, const void* fold);
  void down(std::uint32_t root, std::uint64_t* words, std::size_t count);

  detail::team_state& state_;
};

namespace detail {

template <class F>
std::size_t run_member(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  membership member(arguments[0]);
  team t(member.state());
  const F f = packed<F>::read(arguments.data() + 1);
  try {
    f(t);
  } catch (...) {
    member.tell_exception();
    throw;
  }
  member.leave();
  answer[0] = member.failed() ? 1 : 0;
  return 1;
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
  std::vector<std::uint64_t> failed(node_count(), 1);  // where no answer comes, it has failed
  detail::completion calls;
  for (std::uint32_t n = 0; n < node_count(); ++n)
    detail::begin_call(calls, n, detail::callee_of<detail::run_member<F>>(), words, &failed[n], 1);
  calls.wait();
  if (std::ranges::any_of(failed, [](std::uint64_t f) { return f != 0; })) detail::forget_team(words[0]);
  calls.rethrow();
}

}  // namespace shoal
