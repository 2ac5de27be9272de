// SPDX-License-Identifier: Apache-2.0
#include "cluster/team_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "cluster/team_messages.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/error.hpp"
#include "shoal/random.hpp"
#include "shoal/remote_error.hpp"

namespace shoal::detail {
namespace {

// A message up to this size is sent without asking, if the receiver's window has room.
constexpr std::size_t k_most_unasked_bytes = 8192;
// What a message costs the receiver beside its bytes.
constexpr std::uint64_t k_letter_cost_bytes = 128;

std::string text_of(called c) {
  const auto sized = [&](const char* name) { return fmt::format("calls {}() of {} bytes", name, c.bytes()); };
  const auto rooted = [&](const char* name, const char* preposition) {
    return fmt::format("{} {} member {}", sized(name), preposition, c.root());
  };
  switch (c.what()) {
    case collective::barrier: return "calls barrier()";
    case collective::broadcast: return rooted("broadcast", "from");
    case collective::reduce: return rooted("reduce", "to");
    case collective::all_reduce: return sized("all_reduce");
    case collective::scan: return sized("scan");
    case collective::exscan: return sized("exscan");
    case collective::gather:
      return c.bytes() != 0 ? rooted("gather", "to") : fmt::format("calls gather() of blocks to member {}", c.root());
    case collective::all_gather: return c.bytes() != 0 ? sized("all_gather") : "calls all_gather() of blocks";
    case collective::all_to_all:
      return c.root() != called::k_of_blocks ? sized("all_to_all") : "calls all_to_all() of blocks";
    case collective::split: return "calls split()";
    case collective::leave: return "returns from the body";
    case collective::close: return "destroys the team";
  }
  return "calls what this program does not know";
}

void wake_all(const std::vector<suspended*>& waiters) noexcept {
  for (suspended* s : waiters) wake(s);
}

std::uint32_t right_of(const team_group& g) noexcept { return (g.rank + 1) % g.size; }

}  // namespace

std::size_t letter_name_hash::operator()(const letter_name& n) const noexcept {
  return mix64(mix64(mix64(n.group) + n.call) + (std::uint64_t{n.member} << 32 | n.step));
}

// --- the member's tasks ----------------------------------------------------------------------------------------------

void team_state::announce(const team_group& group, std::uint64_t number, called what) {
  if (group.size == 1) {
    lock held(lock_);
    if (failure_) throw_failure(held);
    return;
  }
  // The first letter of a barrier goes to the right neighbour anyway.
  if (what.what() != collective::barrier)
    send_announcement(group.node_of(right_of(group)), id_, group.id, group.rank, number, what);
  lock held(lock_);
  neighbours& n = compared_[group.id];
  const caller mine{group.rank, what};
  if (const auto found = n.theirs.find(number); found != n.theirs.end()) {
    const caller theirs = found->second;
    n.theirs.erase(found);
    compare_pair(group.id, number, mine, theirs);
  } else {
    n.mine.emplace(number, mine);
  }
  if (failure_) throw_failure(held);
}

// The first failure is kept.
bool team_state::compare(std::uint64_t number, const caller& mine, const caller& theirs) {
  if (mine.what == theirs.what || failure_) return !failure_;
  failure_ = team_failure{
      static_cast<int>(errc::mismatch),
      this_port().node,
      {},
      fmt::format("the members of a team do not call the same collectives: as number {}, member {} {} and member {} "
                  "{}; let all members call the same ones in the same order",
                  number + 1, mine.member, text_of(mine.what), theirs.member, text_of(theirs.what))};
  to_tell_ = true;
  return false;
}

void team_state::compare_pair(std::uint64_t group, std::uint64_t number, const caller& mine, const caller& theirs) {
  // Nothing comes after the end of a team.
  if (compare(number, mine, theirs) && mine.what.what() == collective::close) compared_.erase(group);
}

void team_state::compare_with_left(std::uint64_t group, std::uint64_t number, const caller& theirs) {
  neighbours& n = compared_[group];
  const auto found = n.mine.find(number);
  if (found == n.mine.end()) {
    n.theirs.emplace(number, theirs);
    return;
  }
  const caller mine = found->second;
  n.mine.erase(found);
  compare_pair(group, number, mine, theirs);
}

// Returns when ready() is true, with the lock; throws if the team has failed.
template <class Ready>
void team_state::wait_until(lock& held, suspended*& waiter, const Ready& ready) {
  for (;;) {
    if (failure_) throw_failure(held);
    if (ready()) return;
    waiter = this_task();
    held.unlock();
    detail::leave(wait_kind::collective);
    held.lock();
  }
}

void team_state::throw_failure(lock& held) {
  const team_failure f = *failure_;
  const bool to_tell = std::exchange(to_tell_, false) && !std::exchange(spread_, true);
  waiters woken;  // other tasks of this member: those of async calls
  take_all_waiters(woken);
  held.unlock();
  wake_all(woken);
  if (to_tell) spread_failure(id_, f, this_port().node);
  const auto code = static_cast<errc>(f.code);
  if (f.type.empty()) throw error(code, f.message);
  throw remote_error(code, f.node, f.type, f.message);
}

void team_state::take_all_waiters(waiters& woken) {
  const auto take = [&woken](suspended*& waiter) {
    if (waiter != nullptr) woken.push_back(std::exchange(waiter, nullptr));
  };
  for (auto& [name, in] : incoming_) take(in.waiter);
  for (auto& [name, out] : outgoing_) take(out.waiter);
  take(leaving_);
}

void team_state::finish_arrival(incoming& in, waiters& woken) {
  in.arrived = true;
  if (in.waiter != nullptr) woken.push_back(std::exchange(in.waiter, nullptr));
}

void team_state::expect(const team_group& group, const letter_name& name, called what, std::span<std::byte> target) {
  bool to_grant = false;
  {
    lock held(lock_);
    if (failure_) throw_failure(held);
    incoming& in = incoming_[name];
    SHOAL_ASSERT(!in.expected, "a member expects the same message twice");
    const bool known = in.arrived || in.asked;
    if (known && !compare(name.call, {group.rank, what}, {name.member, in.what})) throw_failure(held);
    SHOAL_ASSERT(!known || in.bytes == target.size(), "a member sends another number of bytes than is expected");
    in.what = what;
    in.rank = group.rank;
    in.node = group.node_of(name.member);
    in.bytes = in.missing = target.size();
    in.target = target.data();
    in.expected = true;
    if (in.arrived && !in.early.empty()) std::memcpy(target.data(), in.early.data(), target.size());
    in.early = {};
    to_grant = std::exchange(in.asked, false);
  }
  if (to_grant) send_grant(group.node_of(name.member), id_, {name.group, name.call, group.rank, name.step});
}

bool team_state::await(const letter_name& name) {
  lock held(lock_);
  incoming& in = incoming_.at(name);  // only this task erases it
  const bool flushed = !in.arrived;
  if (flushed) {
    held.unlock();
    flush_all(this_port());  // another member waits for what this one has sent
    held.lock();
  }
  wait_until(held, in.waiter, [&in] { return in.arrived; });
  const std::uint32_t node = in.node;
  std::uint64_t report = 0;
  if (in.in_window) {
    window& w = windows_[node];
    w.taken += in.bytes + k_letter_cost_bytes;
    if (w.taken - w.reported >= k_window_bytes / 4) report = w.reported = w.taken;
  }
  incoming_.erase(name);
  held.unlock();
  if (report != 0) send_taken(node, id_, report);
  return flushed;
}

void team_state::send(const team_group& group, const letter_name& name, called what, std::span<const std::byte> bytes) {
  const std::uint32_t node = group.node_of(name.member);
  const letter_head head{id_, {name.group, name.call, group.rank, name.step}, what, bytes.size()};
  lock held(lock_);
  if (failure_) throw_failure(held);
  window& w = windows_[node];
  const std::uint64_t cost = bytes.size() + k_letter_cost_bytes;
  // Messages without bytes ask for nothing: they are what a member waits with.
  if (bytes.empty() || (bytes.size() <= k_most_unasked_bytes && w.sent - w.acknowledged + cost <= k_window_bytes)) {
    w.sent += cost;
    held.unlock();
    return send_letter(node, head, bytes);
  }
  outgoing& out = outgoing_[name];
  held.unlock();
  send_request(node, head);
  flush_all(this_port());
  held.lock();
  try {
    wait_until(held, out.waiter, [&out] { return out.granted; });
  } catch (...) {
    const std::lock_guard again(lock_);
    outgoing_.erase(name);
    throw;
  }
  outgoing_.erase(name);
  held.unlock();
  send_parts(node, head, bytes);
}

void team_state::forget(std::span<const letter_name> names) noexcept {
  const std::lock_guard held(lock_);
  for (const letter_name& n : names) incoming_.erase(n);
}

void team_state::leave(team_group& group) {
  SHOAL_ASSERT(open_calls_.load(std::memory_order_relaxed) == 0,
               "the body of an spmd returns before an async collective of its team is complete; wait for its future");
  announce(group, group.calls++, called(collective::leave));
  flush_all(this_port());
  lock held(lock_);
  wait_until(held, leaving_, [&] { return compared_[group.id].mine.empty(); });
}

void team_state::close(team_group& group) noexcept {
  try {
    announce(group, group.calls++, called(collective::close));
  } catch (const error&) {  // the team has failed: the next operation of any team of this member says so
  }
}

void team_state::tell(team_failure f) {
  lock held(lock_);
  if (failure_ && !to_tell_) return;
  if (!failure_) failure_ = std::move(f);
  to_tell_ = true;
  try {
    throw_failure(held);
  } catch (const error&) {  // the caller throws what it has
  }
}

bool team_state::failed() noexcept {
  const std::lock_guard held(lock_);
  return failure_.has_value();
}

// --- arrivals --------------------------------------------------------------------------------------------------------

void team_state::on_letter(std::uint32_t node, const letter_head& head, std::span<const std::uint64_t> data) {
  waiters woken;
  {
    const std::lock_guard held(lock_);
    incoming& in = incoming_[head.name];
    bool fits = true;
    if (in.expected) {
      fits = compare(head.name.call, {in.rank, in.what}, {head.name.member, head.what});
      if (fits) {
        SHOAL_ASSERT(in.bytes == head.bytes, "a member sends another number of bytes than is expected");
        if (in.bytes != 0) std::memcpy(in.target, data.data(), in.bytes);
      }
    } else {
      in.what = head.what;
      in.node = node;
      in.bytes = head.bytes;
      const auto* const first = reinterpret_cast<const std::byte*>(data.data());
      in.early.assign(first, first + head.bytes);
    }
    in.in_window = true;
    if (fits) finish_arrival(in, woken);
    if (head.what.what() == collective::barrier && head.name.step == 0)
      compare_with_left(head.name.group, head.name.call, {head.name.member, head.what});
    if (failure_) take_all_waiters(woken);
  }
  wake_all(woken);
}

void team_state::on_request(const arrival& a, const letter_head& head) {
  waiters woken;
  bool to_grant = false;
  std::uint32_t rank = 0;
  {
    const std::lock_guard held(lock_);
    incoming& in = incoming_[head.name];
    if (in.expected) {
      to_grant = compare(head.name.call, {in.rank, in.what}, {head.name.member, head.what});
      SHOAL_ASSERT(!to_grant || in.bytes == head.bytes, "a member sends another number of bytes than is expected");
      rank = in.rank;
    } else {
      in.what = head.what;
      in.node = a.from;
      in.bytes = head.bytes;
      in.asked = true;
    }
    if (failure_) take_all_waiters(woken);
  }
  wake_all(woken);
  if (!to_grant) return;
  const handler_scope never_waits(a.worker, "a collective of a team");
  send_grant(a.from, id_, {head.name.group, head.name.call, rank, head.name.step});
}

void team_state::on_part(const letter_head& head, std::uint64_t offset, std::span<const std::uint64_t> data) {
  waiters woken;
  {
    const std::lock_guard held(lock_);
    const auto found = incoming_.find(head.name);
    if (failure_ || found == incoming_.end()) return;  // the target may be gone, or the call has ended
    incoming& in = found->second;
    const std::size_t bytes = std::min<std::size_t>(data.size_bytes(), head.bytes - offset);
    SHOAL_ASSERT(in.expected && in.bytes == head.bytes && bytes <= in.missing, "a part of a message is not expected");
    std::memcpy(in.target + offset, data.data(), bytes);
    in.missing -= bytes;
    if (in.missing == 0) finish_arrival(in, woken);
  }
  wake_all(woken);
}

void team_state::on_grant(const letter_name& name) {
  suspended* wanted = nullptr;
  {
    const std::lock_guard held(lock_);
    const auto found = outgoing_.find(name);
    if (found == outgoing_.end()) return;  // the team has failed, and the call has ended
    found->second.granted = true;
    wanted = std::exchange(found->second.waiter, nullptr);
  }
  if (wanted != nullptr) wake(wanted);
}

void team_state::on_taken(std::uint32_t node, std::uint64_t bytes) {
  const std::lock_guard held(lock_);
  window& w = windows_[node];
  w.acknowledged = std::max(w.acknowledged, bytes);
}

void team_state::on_announcement(std::uint64_t group, std::uint32_t member, std::uint64_t number, called what) {
  waiters woken;
  {
    const std::lock_guard held(lock_);
    compare_with_left(group, number, {member, what});
    if (failure_)
      take_all_waiters(woken);
    else if (what.what() == collective::leave && leaving_ != nullptr)
      woken.push_back(std::exchange(leaving_, nullptr));
  }
  wake_all(woken);
}

bool team_state::on_failure(team_failure f) {
  waiters woken;
  bool first = false;
  {
    const std::lock_guard held(lock_);
    first = !std::exchange(spread_, true);
    to_tell_ = false;  // the others hear of this one
    if (!failure_) failure_ = std::move(f);
    take_all_waiters(woken);
  }
  wake_all(woken);
  return first;
}

}  // namespace shoal::detail
