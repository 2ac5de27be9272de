// SPDX-License-Identifier: Apache-2.0
#include "cluster/team.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <numeric>
#include <tuple>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/spmd.hpp"

namespace shoal::cluster {

std::shared_ptr<detail::team_state> node_teams::of(std::uint64_t id) {
  const std::lock_guard guard(lock_);
  auto& t = teams_[id];
  if (!t) t = std::make_shared<detail::team_state>(id);
  return t;
}

std::shared_ptr<detail::team_state> node_teams::find(std::uint64_t id) {
  const std::lock_guard guard(lock_);
  const auto found = teams_.find(id);
  return found == teams_.end() ? nullptr : found->second;
}

void node_teams::forget(std::uint64_t id) noexcept {
  const std::lock_guard guard(lock_);
  teams_.erase(id);
}

std::size_t node_teams::size() noexcept {
  const std::lock_guard guard(lock_);
  return teams_.size();
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

cluster::node_teams& teams_here() noexcept { return *this_port().context->teams; }

std::shared_ptr<team_group> all_nodes() {
  auto group = std::make_shared<team_group>();
  group->rank = this_port().node;
  group->size = this_port().nodes;
  return group;
}

std::size_t forget_here(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  teams_here().forget(arguments[1]);
  return 0;
}

}  // namespace

void fail_team(std::uint64_t id) { teams_here().of(id)->tell(remote::current_failure(this_port().node)); }

std::uint64_t new_team_id() noexcept { return teams_here().new_id(); }

void forget_team(std::uint64_t id) {
  std::array<std::uint64_t, k_tree_words + 2> words{};
  words[k_tree_words + 1] = id;
  call_tree tree(all_nodes_row(), callee_of<forget_here>());
  completion calls;
  tree.begin(calls, words, call_tree::own_part::called);
  calls.wait_and_rethrow();
}

membership::membership(std::uint64_t id) : state_(teams_here().of(id)), group_(all_nodes()) { set_outermost(true); }

membership::~membership() {
  set_outermost(false);
  teams_here().forget(state_->id());
}

void membership::tell_exception() { state_->tell(remote::current_failure(this_port().node)); }
void membership::leave() { state_->leave(*group_); }
bool membership::failed() const noexcept { return state_->failed(); }

team_call::team_call(std::shared_ptr<team_state> state, const std::shared_ptr<team_group>& group, called what)
    : link(group->rank, group->size, this_port().context->algorithms),
      state_(std::move(state)),
      group_(group),
      number_(group->calls++),
      what_(what) {
  state_->announce(*group_, number_, what_);
  state_->begin_call();
}

team_call::~team_call() {
  if (state_) end();
}

void team_call::end() noexcept {
  if (std::exchange(ended_, true)) return;
  if (!expected_.empty()) state_->forget(expected_);
  state_->end_call();
}

void team_call::send_rest() {
  if (std::exchange(unsent_, false)) flush_all(this_port());
}

// What is expected lies in buffers that an exception destroys on its way.
template <class Step>
void team_call::or_abandon(const Step& step) {
  try {
    step();
  } catch (...) {
    state_->forget(expected_);
    expected_.clear();
    throw;
  }
}

void team_call::expect(std::uint32_t from, std::uint32_t step, std::span<std::byte> target) {
  or_abandon([&] {
    const letter_name name = name_of(from, step);
    expected_.push_back(name);
    state_->expect(*group_, name, what_, target);
  });
}

void team_call::await(std::uint32_t from, std::uint32_t step) {
  or_abandon([&] {
    const letter_name name = name_of(from, step);
    if (state_->await(name)) unsent_ = false;
    expected_.erase(std::ranges::find(expected_, name));
  });
}

void team_call::send(std::uint32_t to, std::uint32_t step, std::span<const std::byte> bytes) {
  or_abandon([&] { state_->send(*group_, name_of(to, step), what_, bytes); });
  unsent_ = true;
}

}  // namespace shoal::detail

namespace shoal {

team::team(std::shared_ptr<detail::team_state> state, std::shared_ptr<detail::team_group> group) noexcept
    : state_(std::move(state)), group_(std::move(group)), exceptions_(std::uncaught_exceptions()) {}

team::~team() {
  // A member that an exception ends says so itself.
  if (group_ && group_->id != 0 && std::uncaught_exceptions() <= exceptions_) state_->close(*group_);
}

void team::barrier() {
  detail::settle_all(detail::this_port());
  now(of(what::barrier), detail::collective_of::barrier());
}

team team::split(std::uint64_t colour, std::uint64_t key) {
  struct choice {
    std::uint64_t colour, key, id;
  };
  const choice mine{colour, key, detail::new_team_id()};
  const auto all = now(of(what::split), detail::collective_of::all_gather(mine));
  std::vector<std::uint32_t> members;
  for (std::uint32_t r = 0; r < size(); ++r)
    if (all[r].colour == colour) members.push_back(r);
  std::ranges::stable_sort(members, {}, [&all](std::uint32_t r) { return all[r].key; });
  auto group = std::make_shared<detail::team_group>();
  group->id = all[members.front()].id;
  group->rank = static_cast<std::uint32_t>(std::ranges::find(members, rank()) - members.begin());
  group->size = static_cast<std::uint32_t>(members.size());
  for (const std::uint32_t r : members) group->nodes.push_back(node(r));
  return {state_, std::move(group)};
}

void team::check_root(std::uint32_t root) const { SHOAL_ASSERT(root < size(), "a team has no member of this rank"); }

detail::called team::exchange_of(std::size_t values, std::size_t element_bytes) const {
  SHOAL_ASSERT(values % size() == 0, "all_to_all takes as many elements for each member: a multiple of size()");
  return of(what::all_to_all, 0, values * element_bytes);
}

detail::called team::exchange_of(std::size_t values, std::span<const std::uint64_t> counts) const {
  SHOAL_ASSERT(counts.size() == size() && std::reduce(counts.begin(), counts.end()) == values,
               "all_to_all takes a count for each member, and as many values as the counts together say");
  return called(what::all_to_all, detail::called::k_of_blocks);
}

}  // namespace shoal
