// SPDX-License-Identifier: Apache-2.0
#include "shoal/sync.hpp"

#include "machine/executor.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/task.hpp"
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
  // Partner: the same of the task that closes the cycle at the same moment. One of the two sees the other's note.
  lockfree::std_atomics::fence(std::memory_order_seq_cst);
  w.owner().note_wait_for_holder(seems_to_close_cycle(w.owner(), notes, holder));
  return notes;
}

}  // namespace

void wait_list::wait(wait_kind why, const void* object, const void* holder) noexcept {
  waiter me;
  wait(me, why, object, holder);
}

void wait_list::wait(waiter& me, wait_kind why, const void* object, const void* holder) noexcept {
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

bool wait_list::wait_until(time_limit until, const void* object) {
  waiter me;
  return wait_until(me, until, object);
}

// The task stays on its worker, whose timer it is. The timer fires between tasks, so not before this one has left.
bool wait_list::wait_until(waiter& me, time_limit until, const void* object, give_up_function give_up) {
  struct alarm final : sched::timer {
    alarm(wait_list& l, waiter& w, const void* o, give_up_function g) noexcept
        : timer([](timer& self) noexcept { static_cast<alarm&>(self).end(); }), list(l), of(w), object(o), give_up(g) {}
    void end() noexcept {
      list.lock();
      end_now();
      if (passed) wake(of.task);  // else somebody has taken it out, to wake it
    }
    // With the guard held, which it releases.
    void end_now() noexcept {
      passed = give_up != nullptr ? give_up(object, of) : list.remove(of);
      list.unlock();
    }
    wait_list& list;
    waiter& of;
    const void* object;
    give_up_function give_up;
    bool passed = false;
  } at_limit(*this, me, object, give_up);
  if (give_up == nullptr && until.is_past()) {
    unlock();
    yield();  // it may be called in a loop
    return false;
  }
  sched::worker& w = *sched::this_worker();
  me.name = this_task_name();
  me.task = this_task();
  push(me);
  try {
    if (until.due_ns() != time_limit::k_never) w.timers().add(at_limit, until.due_ns());
  } catch (...) {  // no memory
    at_limit.end_now();
    if (at_limit.passed) throw;
    leave(wait_kind::time, object);
    return true;
  }
  unlock();
  leave(wait_kind::time, object);
  w.timers().end(at_limit);
  return !at_limit.passed;
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
