// SPDX-License-Identifier: Apache-2.0
// Tasks that may continue on another worker (shoal/movable.hpp). Such a task runs on a stack of its own, called by a loop
// as a coroutine: the stack of the loop, its host, waits while the task runs. At a wait that may move, the task switches
// back to its host. Who wakes the task offers it to all workers as an arrived task; the loop that takes it is the new
// host. The host of an iteration of a movable loop is the piece that begins it, and goes on with the next iteration; an
// iteration that moves away counts as a piece of its own from then on. At all other waits the task leaves like any task, with its host suspended, and stays on its worker.
// Who may call: the task itself, on its worker. Waits may switch; after moving_wait::leave() and return_to() the caller
// may be on another worker, so it uses no reference to a worker that it had before.
// Guarantees: a task moves only if it has begun no asynchronous operation that is not complete, has no iteration of a
// loop and no no_wait scope on its stack, and runs no continuation. Nothing else runs on its stack: has_room() is false.
// Tests: tests/unit/sched/movable_test.cpp, movable_loop_test.cpp, tests/stress/movable_test.cpp, model: tests/model/parting_test.cpp.
#pragma once

#include <cstdint>

#include "lockfree/parting.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {

/// What a worker passes to the stack that is to run a movable task.
struct movable_call {
  detail::task* task;
  detail::task::function body;
  detail::loop_state* loop;  // of the iteration that it is; nullptr: it is none
};

/// What is known of a movable task while it runs; on its stack, whose notes lead here.
struct movable_frame final : started {
  movable_frame(fiber::fiber& stack, worker& taken_by) noexcept;
  movable_frame(const movable_frame&) = delete;
  movable_frame& operator=(const movable_frame&) = delete;

  /// Whether iterations of loops that it runs are on its stack.
  bool has_loops(const worker& at) const noexcept { return at.frames != nullptr && at.frames != frames; }
  /// Gives the worker to the host. Returns on any worker, or on `target` if that is not null.
  void leave(worker* target, detail::wait_kind why, const void* object) noexcept;
  /// Any thread, when the stack has been left: the task is runnable.
  void publish() noexcept;
  /// The task has arrived on a worker.
  void arrive(worker& at) noexcept;
  bool may_move(const worker& at) const noexcept;

  struct offer final : errand {
    movable_frame* of = nullptr;
  } offered;
  struct way_back final : placed_task {
    movable_frame* of = nullptr;
  } placed;
  fiber::fiber& self;
  pool& owner;
  worker& home;                                // whose stack it is
  fiber::fiber* host = nullptr;                // the stack of the loop that has called this one
  std::uint64_t issued = 0;                    // asynchronous operations of the worker when the task arrived there
  detail::loop_frame* frames = nullptr;        // of the worker when the task arrived there: not of loops of its own
  const detail::scope* outer_scope = nullptr;  // of the worker when the task arrived there
  const detail::scope* scope = nullptr;        // of the task while it has left
  detail::loop_state* loop = nullptr;          // of the iteration that it is
  bool counted = false;                        // it has left the piece that began it, and is a piece of the loop itself
  bool outermost = false;                      // and one of those that are bounded
  bool stays = false;
  bool ended = false;
  worker* target = nullptr;
  lockfree::parting<> parting;
};

/// In the list of the worker that hosts a movable task, on the stack of the host: while the task runs there, or waits
/// and stays. Only that worker continues it, so that worker may read its stack.
struct movable_guest {
  movable_guest(movable_guest*& list, const fiber::fiber& stack) noexcept : of(stack), first(list), next(list) {
    if (next != nullptr) next->previous = this;
    first = this;
  }
  movable_guest(const movable_guest&) = delete;
  movable_guest& operator=(const movable_guest&) = delete;
  ~movable_guest() {
    (previous != nullptr ? previous->next : first) = next;
    if (next != nullptr) next->previous = previous;
  }

  const fiber::fiber& of;
  movable_guest*& first;
  movable_guest* next;
  movable_guest* previous = nullptr;
};

/// The frame of the running task if that is movable; else nullptr.
inline movable_frame* movable_here(const worker& w) noexcept {
  const fiber::fiber& f = *w.running();
  return f.size_class != worker::k_movable ? nullptr
                                           : static_cast<movable_frame*>(static_cast<started*>(f.notes->running));
}

/// From now on the running task stays on its worker: what runs on its stack next was not declared movable.
inline void stay_here() noexcept {
  if (movable_frame* const f = movable_here(*this_worker()); f != nullptr) [[unlikely]]
    f->stays = true;
}

/// The asynchronous operations of the running task are complete.
inline void note_settled() noexcept {
  worker& w = *this_worker();
  if (movable_frame* const f = movable_here(w); f != nullptr) [[unlikely]]
    f->issued = *w.async_issued;
}

/// The worker that runs the caller now. Not inlined: compilers may keep the address of a thread-local variable.
worker& worker_now() noexcept;

/// A wait of the running task that may end on another worker. Construct it before the task can be woken.
class moving_wait {
public:
  moving_wait() noexcept;
  moving_wait(const moving_wait&) = delete;
  moving_wait& operator=(const moving_wait&) = delete;
  ~moving_wait();

  /// Instead of detail::leave().
  void leave(detail::wait_kind why, const void* object) noexcept {
    if (frame_ == nullptr) [[likely]]
      return detail::leave(why, object);
    leave_moving(why, object);
  }
  bool moves() const noexcept { return frame_ != nullptr; }

private:
  void leave_moving(detail::wait_kind why, const void* object) noexcept;

  movable_frame* frame_ = nullptr;  // null: the task stays
  bool left_ = false;
};

/// The running task, if movable, continues on `target`, to which what it used belongs.
void return_to(worker& target) noexcept;

/// The mark in the place of the worker of a task that has left, or is about to.
extern const char k_moving;
/// Wakes such a task.
void wake_moving(fiber::fiber& f) noexcept;

}  // namespace shoal::sched
