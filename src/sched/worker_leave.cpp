// SPDX-License-Identifier: Apache-2.0
// Suspending the running task, and what runs in its place.
#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::sched {

fiber::fiber* worker::take_loop() noexcept {
  if (native_idle_) {
    native_idle_ = false;
    return &native_;
  }
  fiber::fiber* const f = stacks_.take();
  if (stacks_.unguarded()) [[unlikely]]
    looks_before_leaving |= k_stack_depth;
  return f;
}

// Every iteration of a range that the leaving stack is in begins elsewhere from now on: what is left of each range goes
// to the deque, outermost first, so that inner work is nearest.
void worker::cut_frames() noexcept {
  if (movable_frame* const f = movable_here(*this); f != nullptr && f->has_loops(*this)) [[unlikely]]
    f->stays = true;  // its next waits may be in the same iteration
  detail::loop_frame* inner = nullptr;
  for (detail::loop_frame* f = frames; f != nullptr;) {
    detail::loop_frame* outer = f->outer;
    f->outer = inner;  // reversed, to begin with the outermost
    inner = f;
    f = outer;
  }
  frames = nullptr;
  for (detail::loop_frame* f = inner; f != nullptr;) {
    detail::loop_frame* next = f->outer;
    f->outer = nullptr;
    if (f->loop->cut != nullptr) {
      f->loop->cut(*this, *f);
    } else if (f->next < f->end) {
      const detail::position end = std::exchange(f->end, f->next);
      f->limit = f->next;
      f->loop->pieces.fetch_add(1, std::memory_order_relaxed);
      detail::spawn_piece(*this, *f->loop, detail::number(f->next), detail::number(end));
    }
    f = next;
  }
}

[[gnu::always_inline]] inline std::uint64_t worker::leave_as(profile_recorder* profiled, bool waits,
                                                             detail::wait_kind why, const void* object) noexcept {
  const int kept_error = *error_number_;
  if (frames != nullptr) cut_frames();
  ++counts_.left;
  if (profiled != nullptr) profiled->leaves(why, current_, object);
  fiber::fiber& me = *current_;
  fiber::wait_note note;
  if (waits) {
#ifdef SHOAL_CHECKED
    note = {object, owner_.rough_now()};
#else
    note = {object, about_now_};
#endif
    me.wait = &note;
    me.waits_as = static_cast<std::uint8_t>(why);
  }
#ifdef SHOAL_CHECKED
  check_before_leaving(why);
#else
  if (looks_before_leaving != 0) [[unlikely]]
    check_before_leaving(why);
#endif
  ready_queue::entry next;
  if (!ready_.empty() && spend_turn()) [[likely]] {
    next = ready_.pop();
    if (profiled != nullptr) profiled->hands_over();
  } else {
    next = {take_loop(), 0};
    if (next.fiber == nullptr) [[unlikely]] {
      wait_without_stack();
      turns = turns_between_looks_ - 1;
      next = ready_.pop();
      if (profiled != nullptr) profiled->hands_over();
    }
  }
  word_ = next.word;
  if (next.fiber != &me) [[likely]]
    resume(me, *next.fiber);
  // By current_ it is the same, and the register that `me` would need stays free for kept_error: a spilled one would lie
  // where ready_queue::fetch_ahead() does not reach.
  if (waits) current_->waits_as = 0;
  if (profiled != nullptr)
    if (profile_recorder* const p = profile(); p != nullptr) p->arrives(begun().code, current_);
  fiber::acquire_from(&me);
  *error_number_ = kept_error;
  return word_;
}

// Copies, so that a yield has no note to write, and leaving without a scope and a profile two tests more, not four.
std::uint64_t worker::leave() noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (scope != nullptr || profile() != nullptr) [[unlikely]]
    return leave_with_more(false, detail::wait_kind::none, nullptr);
  return leave_as(nullptr, false, detail::wait_kind::none, nullptr);
}
std::uint64_t worker::leave(detail::wait_kind why, const void* object) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (scope != nullptr || profile() != nullptr) [[unlikely]]
    return leave_with_more(true, why, object);
  return leave_as(nullptr, true, why, object);
}
[[gnu::noinline]] std::uint64_t worker::leave_with_more(bool waits, detail::wait_kind why,
                                                        const void* object) noexcept {
  const detail::scope* const mine = std::exchange(scope, nullptr);
  const std::uint64_t word = leave_as(profile(), waits, why, object);
  scope = mine;
  return word;
}

// All stacks are taken: nothing new can begin on this worker until a task goes on, but messages are still served, and
// errands run, on top of the task that leaves.
void worker::wait_without_stack() noexcept {
  if (!std::exchange(warned_, true))
    base::warn(
        "worker {} has no stack left for another waiting task ({} wait); raise SHOAL_STACKS or let fewer tasks wait",
        index, stacks_.in_use() + (movable_ != nullptr ? movable_->in_use() : 0));
  if (profile_recorder* const p = profile(); p != nullptr) p->looks();
  for (unsigned round = 0;;) {
    SHOAL_ASSERT(!owner_.stopping(), "a pool stops only when none of its tasks waits");
    bool any = take_inbox();
    run_errands();
    if (!ready_.empty()) return;
    any = poll_once() || any;
    if (!ready_.empty()) return;
    if (searches_.any()) {
      searches_.go_on();
      any = true;
    }
    if (any) {
      round = 0;
    } else if (round++ < owner_.options().spin_rounds) {
      owner_.executor().yield();
    } else {
      owner_.hooks().flush(*this);
      park(false);
      round = 0;
    }
  }
}

void worker::yield() noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (ready_.empty() || owner_.urgent()) {  // only tasks that have not begun can run: the loop chooses one
    turns = k_due;
    due_ = others::own;
  }
  fiber::release_to(current_);
  ready_.push(current_);
  leave();
}

}  // namespace shoal::sched
