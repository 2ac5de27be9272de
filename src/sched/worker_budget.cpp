// SPDX-License-Identifier: Apache-2.0
// The progress budget of a worker: when it looks at the clock, and who runs when the budget is used up.
#include <algorithm>
#include <utility>

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {

using detail::task;

// The turns are used up.
bool worker::has_budget() noexcept {
  if (turns < k_due) {  // the loop is due already
    turns = k_due;
    return false;
  }
  const std::uint64_t now = look_at_clock();
  const bool own = turns_of_others_ >= k_turns_of_others;  // stays so until a loop serves them
  if (!own) {
    if (now - served_ < k_budget_ticks) return !owner_.urgent();
    if (has_polled() && !anything_given()) {  // nobody waits for this worker
      served_ = now;
      return true;
    }
  }
  due_ = own ? others::own : others::arrived;
  used_up_ = true;
  turns = k_due;
  return false;
}

// Whether it has polled since this was asked last.
bool worker::has_polled() noexcept {
  const std::uint64_t count = polls.load(std::memory_order_relaxed);
  return std::exchange(polls_seen_, count) != count;
}

bool worker::anything_given() const noexcept {
  return !arrived_.seems_empty() || placed_first_ != nullptr || !mine_.empty() || owner_.anything_submitted() ||
         owner_.urgent();
}

// Reads the clock, and sets how many turns may pass before it is read again: about those of k_look_ticks. Sends buffers
// for which tasks wait.
std::uint64_t worker::look_at_clock() noexcept {
  owner_.charge(machine::work::turn, static_cast<std::uint64_t>(turns_between_looks_));
  const std::uint64_t now = about_now_ = owner_.rough_now();
  const std::uint64_t took = now - std::exchange(looked_, now);
  if (took < k_look_ticks / 2)
    turns_between_looks_ = std::min(turns_between_looks_ * 2, k_most_turns);
  else if (took > k_budget_ticks)
    turns_between_looks_ =
        std::max(static_cast<int>(static_cast<unsigned>(turns_between_looks_) * k_budget_ticks / took), 1);
  turns = turns_between_looks_ - 1;
  turns_of_others_ = std::min(turns_of_others_ + std::max(turns_between_looks_, k_first_turns), k_turns_of_others);
  owner_.hooks().send_awaited(*this, now);
  return now;
}

// The running task stays where it is, with its stack, while the tasks that are served run. So that the stacks do not
// become as many as the tasks, few of them may be in this state at a time; then, but for a task now and then, only
// runnable tasks take turns.
[[gnu::noinline]] void worker::let_others_run() noexcept {
  const fiber::tsan_ignore_scope ignore;
  // Below k_due: a strand has looked.
  const std::uint64_t now = turns < k_due ? owner_.rough_now() : look_at_clock();
  turns = turns_between_looks_ - 1;
  used_up_ = false;
  if (no_wait_scopes != 0 || (looks_before_leaving & k_in_handler) != 0 || owner_.stopping()) return;
  if (owner_.urgent()) return yield();
  if (now - served_ < k_budget_ticks) return;
  served_ = now;
  bool polled = has_polled();
  if (!polled && has_room()) {
    poll_once();
    polled = has_polled();
  }
  take_inbox();
  const bool own = turns_of_others_ >= k_turns_of_others && owner_.anything_apart();
  const bool due = own || !polled || anything_given();
  const bool begins = due && may_interpose();
  if (due && !begins) ++refused_;
  if (!begins && ready_.empty()) return;
  if (begins) {
    due_ = own ? others::own : others::arrived;
    used_up_ = true;
    turns = k_due;
  }
  fiber::release_to(current_);
  ready_.push(current_);
  leave();
}

// Called by a loop when the budget is used up (`bounded`) or a task yields: executes messages, and gives the task that
// begins next, if any. Whose turn is first alternates, so that none starves.
task* worker::serve(profile_operation& how, bool bounded) noexcept {
  const others what = std::exchange(due_, others::arrived);
  turns = turns_between_looks_ - 1;
  served_ = about_now_ = owner_.rough_now();
  poll_once();
  has_polled();  // this poll is none that spares the next one
  owner_.hooks().send_awaited(*this, served_);
  owner_.take_submitted(*this);
  if (searches_.any()) [[unlikely]]
    searches_.go_on();
  if (bounded) {
    if (!may_interpose()) {
      ++refused_;
      return nullptr;
    }
    refused_ = 0;
  }
  ++serves_;
  if (!owner_.is_active(index)) [[unlikely]] {
    turns_of_others_ = 0;
    task* const t = next_given();
    return t != nullptr ? t : next_kept();
  }
  if (what == others::arrived) {
    task* t = serves_ % 2 == 0 ? take_arrived() : nullptr;
    if (t == nullptr) t = next_given();
    return t != nullptr ? t : take_arrived();
  }
  turns_of_others_ = 0;
  if (++serves_of_own_ % k_serves_per_theft == 0) {
    if (task* t = next_apart()) return t;
    if (task* t = next_own()) return t;
    how = profile_operation::steal;
    return steal();
  }
  if (bounded && serves_of_own_ % 2 == 0) {  // also beside a chain of urgent tasks
    task* const t = serves_of_own_ % 4 == 0 ? take_arrived() : tasks.pop();
    if (t != nullptr) return t;
  }
  return next_own();
}

}  // namespace shoal::sched
