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

void wait_list::wait() noexcept {
  waiter me;
  me.stack = this_stack();
  sched::moving_wait moving;
  me.task = this_task();
  push(me);
  unlock();
  moving.leave();
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
