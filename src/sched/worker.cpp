// SPDX-License-Identifier: Apache-2.0
#include "sched/worker.hpp"

#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/futex.hpp"
#include "machine/membarrier.hpp"
#include "machine/memory_info.hpp"
#include "machine/signals.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::sched {

using detail::task;

worker::worker(pool& owner, unsigned number, std::size_t most_waiting)
    : owner_(owner),
      stacks_(owner.stacks(), this, on_fresh_stack),
      most_waiting_(most_waiting),
      random_(0x5e0a1 + number) {
  index = number;
  siblings = owner.options().workers;
  sleepers = &owner.sleepers();
  native_.owner = this;
}

void worker::use_doorbell(lockfree::doorbell<>& bell, bool shared_by_processes) noexcept {
  bell_ = &bell;
  bell_shared_ = shared_by_processes;
}

void worker::run_thread() noexcept {
  const fiber::unwatched quiet;  // the thread's own state, which all its stacks read
  const machine::alternate_stack for_signals;
  detail::t_worker = this;
  detail::t_port = port;
  exceptions_ = fiber::exception_state_of_this_thread();
  fiber::adopt_thread(native_);
  current_ = &native_;
  native_idle_ = false;
  if (first_ != nullptr) run(*first_);
  loop(native_);
  fiber::acquire_from(this);
  for (block* b = blocks; b != nullptr;) {
    block* next = b->next;
    ::operator delete(b);
    b = next;
  }
  blocks = nullptr;
  block_count = 0;
  detail::t_worker = nullptr;
  detail::t_port = nullptr;
}

void worker::on_fresh_stack() noexcept {
  auto& w = *this_worker();
  const fiber::unwatched quiet;
  fiber::arrived(*w.current_);
#if SHOAL_TSAN
  w.current_->sanitizer.unwatched_for_ever = true;
#endif
  w.loop(*w.current_);  // does not return on a stack of the pool
}

// Switches stacks; returns when somebody switches back.
[[gnu::always_inline]] inline void worker::resume(fiber::fiber& self, fiber::fiber& next) noexcept {
  current_ = &next;
  fiber::switch_to(self, next, *exceptions_);
}

// A loop gives up its stack, on which nothing stands but itself, for a task that goes on.
void worker::hand_over(fiber::fiber& self, ready_queue::entry next) noexcept {
  fiber::release_to(this);  // for the end of run_thread: no order among tasks comes from it
  if (&self == &native_)
    native_idle_ = true;
  else
    stacks_.put(&self);
  word_ = next.word;
  resume(self, *next.fiber);
}

fiber::fiber* worker::take_loop() noexcept {
  if (native_idle_) {
    native_idle_ = false;
    return &native_;
  }
  return stacks_.take();
}

void worker::run(task& t) noexcept {
  ++counts_.run;
  fiber::acquire_from(&t);
  const fiber::watched program;
  t.run(t);
}

void worker::loop(fiber::fiber& self) noexcept {
  for (;;) {
    if (owner_.stopping()) {
      if (&self == &native_) return;
      SHOAL_ASSERT(native_idle_, "a pool stops only when none of its tasks waits");
      native_idle_ = false;
      hand_over(self, {&native_, 0});
    }
    take_inbox();
    if (turns_ == 0) {
      // However many are ready: messages are looked at, and something new begins, every so often.
      turns_ = k_turns;
      poll_once();
      if (task* t = next_own()) {
        run(*t);
        continue;
      }
    }
    if (!ready_.empty()) {
      --turns_;
      hand_over(self, ready_.pop());
      continue;
    }
    if (task* t = next_own()) {
      --turns_;
      run(*t);
      continue;
    }
    if (poll_once()) continue;
    if (task* t = steal()) {
      run(*t);
      continue;
    }
    if (!idle()) park();
  }
}

// What may begin now: errands, the deque, and ranges put aside if few enough tasks wait.
task* worker::next_own() noexcept {
  if (!mine_.empty()) [[unlikely]] {
    task* t = mine_.back();
    mine_.pop_back();
    return t;
  }
  if (task* t = tasks.pop()) return t;
  if (!deferred_.empty() && stacks_.in_use() < most_waiting_) {
    task* t = deferred_.back();
    deferred_.pop_back();
    return t;
  }
  return nullptr;
}

bool worker::defer_if_full(detail::loop_state& loop, task& t) noexcept {
  if (!loop.outermost || stacks_.in_use() < most_waiting_) return false;
  const fiber::unwatched quiet;
  deferred_.push_back(&t);
  return true;
}

bool worker::take_inbox() noexcept {
  bool any = false;
  for (auto* node = woken_.take_all(); node != nullptr;) {
    auto* next = node->next.read();
    ready_.push(static_cast<fiber::fiber*>(node));
    node = next;
    any = true;
  }
  for (auto* node = errands_.take_all(); node != nullptr;) {
    auto* next = node->next.read();
    mine_.push_back(static_cast<errand*>(node));  // not into the deque, where a thief might take them
    node = next;
    any = true;
  }
  return any;
}

// Every iteration of a range that the leaving stack is in begins elsewhere from now on: what is left of each range goes
// to the deque, outermost first, so that inner work is nearest.
void worker::cut_frames() noexcept {
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
    if (f->next < f->end) {
      const std::uint64_t begin = f->next;
      const std::uint64_t end = f->end;
      f->limit = f->end = begin;
      f->loop->pieces.fetch_add(1, std::memory_order_relaxed);
      detail::spawn_piece(*this, *f->loop, begin, end);
    }
    f = next;
  }
}

std::uint64_t worker::leave() noexcept {
  const fiber::unwatched quiet;
  if (frames != nullptr) cut_frames();
  SHOAL_CHECK(no_wait_scopes == 0,
              "a task waits inside a no_wait scope: a lock that blocks threads is held over a wait");
  ++counts_.left;
  fiber::fiber& me = *current_;
  SHOAL_CHECK(me.stack_bottom == nullptr ||
                  reinterpret_cast<std::byte*>(__builtin_frame_address(0)) > me.stack_bottom + machine::page_size(),
              "a task has used up its stack; raise SHOAL_STACK");
  ready_queue::entry next;
  if (!ready_.empty() && turns_ > 0) [[likely]] {
    --turns_;
    next = ready_.pop();
  } else {
    next = {take_loop(), 0};
    if (next.fiber == nullptr) [[unlikely]] {
      wait_without_stack();
      next = ready_.pop();
    }
  }
  word_ = next.word;
  if (next.fiber != &me) [[likely]]
    resume(me, *next.fiber);
  fiber::acquire_from(&me);
  return word_;
}

// All stacks are taken: nothing new can begin on this worker until a task goes on, but messages are still served.
void worker::wait_without_stack() noexcept {
  if (!std::exchange(warned_, true))
    base::warn(
        "worker {} has no stack left for another waiting task ({} wait); raise SHOAL_STACKS or let fewer tasks wait",
        index, stacks_.in_use());
  while (ready_.empty()) {
    take_inbox();
    if (ready_.empty() && !poll_once()) {
      owner_.above().flush(*this);
      machine::yield_processor();
    }
  }
}

void worker::yield() noexcept {
  const fiber::unwatched quiet;
  if (ready_.empty()) turns_ = 0;  // nobody to take turns with but what has not begun: let the loop see to it
  fiber::release_to(current_);
  ready_.push(current_);
  leave();
}

bool worker::poll() noexcept {
  const fiber::unwatched quiet;
  return poll_once();
}

bool worker::poll_once() noexcept {
  polls.store(polls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return owner_.above().poll(*this) | (!woken_.empty() && take_inbox());
}

task* worker::steal() noexcept {
  if (siblings < 2) return nullptr;
  const unsigned first = static_cast<unsigned>(random_.below(siblings));
  for (unsigned i = 0; i < siblings; ++i) {
    const unsigned victim = first + i < siblings ? first + i : first + i - siblings;
    if (victim == index) continue;
    for (;;) {
      const auto result = owner_.at(victim).tasks.steal();
      if (result.outcome == lockfree::steal_outcome::won) {
        ++counts_.stolen;
        return result.item;
      }
      if (result.outcome == lockfree::steal_outcome::empty) break;
      machine::pause();
    }
  }
  return nullptr;
}

// Looks around for a while before parking; true if there is something to do.
bool worker::idle() noexcept {
  owner_.above().flush(*this);
  for (unsigned round = 0; round < owner_.options().spin_rounds; ++round) {
    if (poll_once() || take_inbox() || !ready_.empty() || owner_.stopping()) return true;
    if (task* t = steal()) {
      tasks.push(t);
      return true;
    }
    // Somebody else may need the processor to produce what we wait for.
    if (round % 4 == 3)
      machine::yield_processor();
    else
      for (int i = 0; i < 8; ++i) machine::pause();
  }
  return false;
}

bool worker::anything_to_do() noexcept {
  if (owner_.stopping() || !woken_.empty() || !errands_.empty() || owner_.above().pending(*this)) return true;
  for (unsigned i = 0; i < siblings; ++i)
    if (!owner_.at(i).tasks.seems_empty()) return true;
  return false;
}

void worker::park() noexcept {
  bell_->prepare();
  parked_.store(true, std::memory_order_relaxed);
  sleepers->fetch_add(1, std::memory_order_relaxed);
  // Whoever spawns only looks at `sleepers`, without a fence: the sleeper fences for both sides.
  machine::heavy_fence();
  if (anything_to_do()) {
    bell_->cancel();
  } else {
    ++counts_.parks;
    while (bell_->may_sleep()) {
      const bool surplus = stacks_.idle() > k_kept_stacks;
      const auto result = machine::futex_wait(bell_->word(), lockfree::doorbell<>::k_announced,
                                              surplus ? k_until_trim_ns : machine::k_no_timeout, bell_shared_);
      // Nothing to do for so long: the memory of the stacks is worth more to others.
      if (result == machine::futex_result::timeout) stacks_.trim(k_kept_stacks, stacks_.idle());
    }
  }
  parked_.store(false, std::memory_order_relaxed);
  sleepers->fetch_sub(1, std::memory_order_relaxed);
}

bool worker::ring() noexcept {
  if (!bell_->ring()) return false;
  machine::futex_wake(bell_->word(), 1, bell_shared_);
  return true;
}

void worker::make_ready(fiber::fiber& f) noexcept {
  const fiber::unwatched quiet;
  fiber::release_to(&f);
  if (detail::t_worker == this) {
    ready_.push(&f);
  } else if (woken_.push(&f)) {
    ring();
  }
}

void worker::give_errand(errand& e) noexcept {
  const fiber::unwatched quiet;
  fiber::release_to(static_cast<task*>(&e));
  if (errands_.push(&e)) ring();
}

}  // namespace shoal::sched
