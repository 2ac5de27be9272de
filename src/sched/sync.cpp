// SPDX-License-Identifier: Apache-2.0
#include "shoal/sync.hpp"

#include "machine/executor.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/task_lock.hpp"

namespace shoal::detail {
namespace {

// For a guard that another thread holds for a few instructions.
void let_others_run() noexcept {
  sched::worker* const here = sched::this_worker();
  (here != nullptr ? here->owner().executor() : machine::threads()).yield();
}

}  // namespace

void wait_list::wait_for_guard() noexcept { let_others_run(); }

const void* this_stack() noexcept {
  // The notes, not the fiber: a call on a stack of its own size is the same task, and uses the notes of its caller.
  return static_cast<sched::worker&>(worker_here()).current()->notes;
}

task_name this_task_name() noexcept {
  const fiber::stack_notes* const notes = static_cast<sched::worker&>(worker_here()).current()->notes;
  return {notes, static_cast<const sched::started*>(notes->running)->number};
}

namespace {

// Follows who waits for whom. What it reads may be out of date, so the result is a suspicion, which the surveys of
// runtime/hang_watch confirm or not.
bool seems_to_close_cycle(const sched::pool& p, const fiber::stack_notes& me, const void* holder) noexcept {
  constexpr int k_most_steps = 64;
  const auto* at = static_cast<const fiber::stack_notes*>(holder);
  for (int steps = 0; at != &me; ++steps) {
    // Another pool may be destroyed meanwhile. And what holder() gives may be the number of a result, if its stack has
    // begun another wait between the two loads: no stack is there.
    if (steps == k_most_steps || !p.owns(at)) return false;
    const fiber::stack_notes* next = at->holder();
    if (next == nullptr) {
      const std::uintptr_t edge = at->waits_for.load(std::memory_order_relaxed);
      if (edge == fiber::stack_notes::k_no_edge || fiber::stack_notes::is_open(edge)) return false;
      next = reinterpret_cast<const fiber::stack_notes*>(edge);
    }
    at = next;
  }
  return true;
}

// Unlocks the list when the note is made. The caller may continue on another worker, with the same notes.
[[gnu::noinline]] fiber::stack_notes& note_holder(wait_list& list, const void* holder) noexcept {
  sched::worker& w = *sched::this_worker();
  fiber::stack_notes& notes = *w.current()->notes;
  notes.wait_for_holder(holder);
  list.unlock();
  w.owner().note_wait_for_holder(seems_to_close_cycle(w.owner(), notes, holder));
  return notes;
}

}  // namespace

void wait_list::wait(wait_kind why, const void* object, const void* holder) noexcept {
  waiter me;
  me.name = this_task_name();
  sched::moving_wait moving;
  me.task = this_task();
  push(me);
  if (holder == nullptr) {
    unlock();
    return moving.leave(why, object);
  }
  fiber::stack_notes& notes = note_holder(*this, holder);
  moving.leave(why, object);
  notes.forget_holder();
}

void wait_list::wake_all(waiter* w) noexcept {
  while (w != nullptr) {
    waiter* next = w->next;  // before its task may continue and destroy the node
    wake(w->task);
    w = next;
  }
}

void switch_to(suspended* s) noexcept {
  sched::worker& here = *sched::this_worker();
  const fiber::tsan_ignore_scope ignore;
  here.make_next(*reinterpret_cast<fiber::fiber*>(s));
  here.yield();
}

void wait_a_moment(unsigned round) noexcept {
  constexpr unsigned k_pauses = 8;
  round < k_pauses ? machine::pause() : let_others_run();
}

}  // namespace shoal::detail
