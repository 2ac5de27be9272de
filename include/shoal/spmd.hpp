// SPDX-License-Identifier: Apache-2.0
// One call of a body per node, with collective operations: for phases in which each node works on its own part.
//   shoal::spmd([=](shoal::team& t) { ...; t.barrier(); auto sum = t.all_reduce(mine, std::plus<>{}); ... });
// Who may call: tasks. Switches tasks. A call per node, down a tree where there are many.
// Errors: if a member throws, or returns or calls another collective where others call one, every member that is in a
// collective, of this team or of one that split() has made of it, or calls one later, gets an exception: the
// remote_error of what was thrown, or shoal::error (mismatch) that names two members and what they do. So does the
// caller of spmd. For this each member tells its right neighbour what it calls: where members differ, two neighbours do.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "shoal/detail/call_tree.hpp"
#include "shoal/detail/loop.hpp"
#include "shoal/on.hpp"
#include "shoal/team.hpp"

namespace shoal {

namespace detail {

std::uint64_t new_team_id() noexcept;
/// Ends what members that failed have left on the nodes. After all members have ended.
void forget_team(std::uint64_t id);
/// Called while an exception is handled: the team has failed by it, and its members are told.
void fail_team(std::uint64_t id);

/// A member on its node, from its beginning to its end.
class membership {
public:
  explicit membership(std::uint64_t id);
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  team all() const noexcept { return {state_, group_}; }
  /// In the handler of what the body has thrown: tells the other members.
  void tell_exception();
  /// The body has returned: throws if other members call a collective here, or have failed.
  void leave();
  /// Whether something of the team may arrive later.
  bool failed() const noexcept;

private:
  std::shared_ptr<team_state> state_;
  std::shared_ptr<team_group> group_;
};

/// What travels beside the body: the team, and where the result of the member on the caller's node goes.
struct spmd_call {
  std::uint64_t team;
  std::uint64_t caller;  // node
  std::uint64_t result;  // address on that node
};
/// In front of the body's words, behind those of the tree: the place in the row, which all members know, and the call.
inline constexpr std::size_t k_spmd_words = 1 + packed<spmd_call>::k_words;

inline spmd_call spmd_call_in(std::span<const std::uint64_t> arguments) noexcept {
  return packed<spmd_call>::read(arguments.data() + 1);
}

/// Whether a member of either of two groups has failed.
inline std::size_t either_failed(std::uint32_t, std::span<const std::uint64_t>, std::uint64_t* answers) {
  answers[0] |= answers[1];
  return 1;
}

/// Some members will not begin.
inline std::size_t abandon_team(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  fail_team(spmd_call_in(arguments).team);
  return 0;
}

template <class F>
using spmd_result = std::invoke_result_t<const F&, team&>;

template <class F>
void run_body(const F& f, team& t, [[maybe_unused]] const spmd_call& call) {
  if constexpr (std::is_void_v<spmd_result<F>>) {
    f(t);
  } else {
    auto result = f(t);
    if (call.caller == node_id())
      reinterpret_cast<std::optional<spmd_result<F>>*>(call.result)->emplace(std::move(result));
  }
}

template <class F>
std::size_t run_member(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t* answer) {
  const spmd_call call = spmd_call_in(arguments);
  const F f = packed<F>::read(arguments.data() + k_spmd_words);
  std::optional<membership> joined;
  try {
    joined.emplace(call.team);
  } catch (...) {
    fail_team(call.team);
    throw;
  }
  membership& member = *joined;
  try {
    team t = member.all();
    run_body(f, t, call);
    member.leave();
  } catch (...) {
    member.tell_exception();
    throw;
  }
  answer[0] = member.failed() ? 1 : 0;
  return 1;
}

}  // namespace detail

/// Runs body(team&) once on each node; returns when all have ended. Returns what the body on this node returns (any type
/// that can be moved), if anything. Throws the first exception as shoal::remote_error.
template <class F>
auto spmd(const F& body) -> detail::spmd_result<F> {
  static_assert(std::is_invocable_v<const F&, team&>, "the body is called with its team");
  using result_type = detail::spmd_result<F>;
  detail::check_capture(body);
  std::optional<std::conditional_t<std::is_void_v<result_type>, bool, result_type>> result;
  const detail::spmd_call call{detail::new_team_id(), node_id(), reinterpret_cast<std::uint64_t>(&result)};
  constexpr std::size_t k_body = detail::k_tree_words + detail::k_spmd_words;
  std::array<std::uint64_t, k_body + detail::packed<F>::k_words> words;
  detail::packed<detail::spmd_call>::write(call, words.data() + detail::k_tree_words + 1);
  detail::packed<F>::write(body, words.data() + k_body);
  detail::call_tree tree(detail::all_nodes_row(), detail::callee_of<detail::run_member<F>>(),
                         detail::callee_of<detail::either_failed>(), 1);
  tree.set_abandon(detail::callee_of<detail::abandon_team>());
  detail::completion calls;  // after the tree: waits before it goes
  try {
    tree.begin(calls, words, detail::call_tree::own_part::called);
  } catch (...) {  // no memory: those that have begun must not wait for the others
    detail::fail_team(call.team);
    calls.wait();
    detail::forget_team(call.team);
    throw;
  }
  calls.wait();
  // Where no answer comes, a member has failed.
  const auto arguments = std::span<const std::uint64_t>(words).subspan(detail::k_tree_words);
  if (calls.has_failed() || tree.combined(arguments)[0] != 0) detail::forget_team(call.team);
  calls.rethrow();
  if constexpr (!std::is_void_v<result_type>) return std::move(*result);
}

}  // namespace shoal
