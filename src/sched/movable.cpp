// SPDX-License-Identifier: Apache-2.0
#include "sched/movable.hpp"

#include "fiber/sanitizer.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/movable.hpp"
#include "shoal/task.hpp"
#include "shoal/task_lock.hpp"

namespace shoal::sched {

using detail::task;

const char k_moving = 0;

[[gnu::noinline]] worker& worker_now() noexcept {
  asm volatile("" ::: "memory");  // no two calls are one
  return *this_worker();
}

movable_frame::movable_frame(fiber::fiber& stack, worker& taken_by) noexcept
    : self(stack), owner(taken_by.owner()), home(taken_by) {
  offered.of = this;
  offered.run = [](task& t) noexcept { this_worker()->host(static_cast<offer&>(static_cast<errand&>(t)).of->self); };
  placed.of = this;
  placed.run = [](task& t) noexcept {
    this_worker()->host(static_cast<way_back&>(static_cast<placed_task&>(t)).of->self);
  };
}

void movable_frame::arrive(worker& at) noexcept {
  if (profile_recorder* const p = at.profile(); p != nullptr) [[unlikely]]
    p->resumes(at.begun().code, &self);
  parting.arrive();
  host = at.host_;
  outer_scope = at.scope;
  frames = at.frames;
  issued = *at.async_issued;
}

bool movable_frame::may_move(const worker& at) const noexcept {
  return fiber::k_may_change_thread && !stays && !has_loops(at) && at.no_wait_scopes == 0 &&
         (at.looks_before_leaving & worker::k_in_handler) == 0 && *at.async_issued == issued;
}

void movable_frame::leave(worker* wanted, detail::wait_kind why, const void* object) noexcept {
  worker& w = worker_now();
  const int kept_error = *w.error_number_;
  target = wanted;
  if (loop != nullptr && !counted) w.count_iteration(*this);
  ++w.counts_.left;
  if (profile_recorder* const p = w.profile(); p != nullptr) [[unlikely]]
    p->leaves(why, &self, object);
  // Read by whoever keeps others off this stack meanwhile: see worker::list_waits().
  const fiber::wait_note note{object, owner.rough_now()};
  self.wait = &note;
  self.waits_as = static_cast<std::uint8_t>(why);
  const bool outside = detail::ends_from_outside(why);
  if (outside) w.wait_from_outside(1);
  scope = std::exchange(w.scope, outer_scope);
  w.resume(self, *host);
  self.waits_as = 0;
  worker& now = worker_now();
  if (outside) now.wait_from_outside(-1);  // the sum over the workers counts
  arrive(now);
  now.scope = scope;
  fiber::acquire_from(&self);       // partner: wake_moving()
  fiber::acquire_from(self.notes);  // partner: worker::host()
  *now.error_number_ = kept_error;
}

void movable_frame::publish() noexcept {
  worker* const here = this_worker();
  if (here != nullptr && &here->owner() == &owner)
    detail::arrive(*here, offered);
  else
    owner.submit(offered);
}

// What a loop calls to begin or to continue the task of `f`: returns when the task has ended, or has left to where it may
// continue elsewhere.
void worker::host(fiber::fiber& f) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::fiber& self = *current_;
  const movable_guest guest(guests_, f);
  for (;;) {
    f.owner = this;
    host_ = &self;
    fiber::release_to(f.notes);
    resume(self, f);
    auto& frame = *static_cast<movable_frame*>(static_cast<started*>(f.notes->running));
    if (frame.ended) return frame.home.take_back(f);
    if (worker* const to = frame.target; to != nullptr) return to->place(frame.placed);
    if (frame.parting.leave()) return;  // from here on it may be anywhere
  }
}

// A stack that has ended its task elsewhere goes to the worker that has taken it, so that none collects the others'.
void worker::take_back(fiber::fiber& f) noexcept {
  if (this_worker() == this) return put_movable(f);
  ended_elsewhere_.push(&f);
  lockfree::std_atomics::fence(std::memory_order_seq_cst);  // partner: the one in park()
  if (holds_back_.load(std::memory_order_relaxed)) ring();
}

// An iteration is about to leave the piece that began it, on the worker that did.
void worker::count_iteration(movable_frame& f) noexcept {
  f.counted = true;
  f.outermost = f.loop->outermost;
  if (f.outermost) ++outermost_moved_;
  f.loop->pieces.fetch_add(1, std::memory_order_relaxed);
}

void worker::put_movable(fiber::fiber& f) noexcept {
  if (static_cast<movable_frame*>(static_cast<started*>(f.notes->running))->outermost) --outermost_moved_;
  f.notes->running = nullptr;  // see list_waits()
  movable_->put(&f);
}

fiber::fiber* worker::take_movable() noexcept {
  if (movable_ == nullptr)
    movable_ = std::make_unique<fiber::stack_pool>(owner_.stacks(), this, on_movable_stack, k_movable);
  if (movable_->idle() == 0) collect_movable();
  fiber::fiber* const f = movable_->take();
  if (movable_->unguarded()) looks_before_leaving |= k_stack_depth;
  return f;
}

void worker::collect_movable() noexcept {
  for (auto* node = ended_elsewhere_.take_all(); node != nullptr;) {
    auto* const next = node->next.read();
    put_movable(*static_cast<fiber::fiber*>(node));
    node = next;
  }
}

void worker::begin_movable(task& t, task::function body, detail::loop_state* of) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::fiber* const f = take_movable();
  if (f == nullptr) {  // no stack is left: it runs like any task, and stays
    const fiber::watched program;
    return body(t);
  }
  movable_call call{&t, body, of};
  movable_call_ = &call;
  host(*f);
}

void worker::on_movable_stack() noexcept {
  fiber::fiber& self = *worker_now().current_;
  const fiber::tsan_ignore_scope ignore;
  fiber::arrived(self);
#if SHOAL_TSAN
  self.sanitizer.unwatched_for_ever = true;
#endif
  for (;;) {
    worker& w = worker_now();
    const movable_call call = *w.movable_call_;
    movable_frame frame(self, w);
    frame.code = reinterpret_cast<const void*>(call.body);
    frame.loop = call.loop;
    frame.number = ++w.movables_begun_;
    self.notes->running = &frame;
    frame.arrive(w);
    fiber::acquire_from(self.notes);
    {
      const fiber::watched program;
      call.body(*call.task);
    }
    frame.ended = true;
    worker_now().scope = frame.outer_scope;
    worker_now().resume(self, *frame.host);
  }
}

moving_wait::moving_wait() noexcept {
  worker& w = *this_worker();
  movable_frame* const f = movable_here(w);
  if (f == nullptr) [[likely]]
    return;
  const fiber::tsan_ignore_scope ignore;
  if (!f->may_move(w)) return;
  frame_ = f;
  f->self.owner = const_cast<char*>(&k_moving);
}

void moving_wait::leave_moving(detail::wait_kind why, const void* object) noexcept {
  const fiber::tsan_ignore_scope ignore;
  left_ = true;
  frame_->leave(nullptr, why, object);
}

moving_wait::~moving_wait() {
  if (frame_ != nullptr && !left_) frame_->self.owner = &worker_now();
}

void return_to(worker& target) noexcept {
  worker& w = worker_now();
  movable_frame* const f = movable_here(w);
  if (f == nullptr || &w == &target) return;
  if (*w.async_issued != f->issued) detail::settle_now();
  const fiber::tsan_ignore_scope ignore;
  f->leave(&target, detail::wait_kind::none, nullptr);
}

void wake_moving(fiber::fiber& f) noexcept {
  auto& frame = *static_cast<movable_frame*>(static_cast<started*>(f.notes->running));
  const fiber::tsan_ignore_scope ignore;
  fiber::release_to(&f);
  note_end();
  if (frame.parting.wake()) frame.publish();  // else its host goes on with it
}

}  // namespace shoal::sched

namespace shoal::detail {

void begin_movable(task& t, task::function body) noexcept { sched::worker_now().begin_movable(t, body, nullptr); }

void settle_movable(std::uint64_t issued_before) noexcept {
  const sched::worker& w = sched::worker_now();
  const sched::movable_frame* const f = sched::movable_here(w);
  settle(f != nullptr ? f->issued : issued_before);
}

void return_to_worker(unsigned index) noexcept {
  sched::worker& w = sched::worker_now();
  const sched::movable_frame* const f = sched::movable_here(w);
  SHOAL_ASSERT(
      f != nullptr && !f->has_loops(w),
      "a task_lock is unlocked on another worker than it was locked on: by a task that does not hold it, or by a "
      "movable task within a loop that it began after it had moved");
  sched::return_to(w.owner().at(index));
}

}  // namespace shoal::detail
