// SPDX-License-Identifier: Apache-2.0
#include "sched/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <utility>

#include "base/log.hpp"
#include "base/rough_time.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/memory_info.hpp"
#include "machine/thread_id.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::sched {

using detail::task;

worker::worker(pool& owner, unsigned number, std::size_t most_waiting)
    : owner_(owner),
      native_notes_(owner.native_notes(number)),
      stacks_(owner.stacks(), this, on_fresh_stack),
      inline_bytes_(std::min(std::size_t{16} << 10, owner.options().stack_bytes / 4)),
      most_waiting_(most_waiting),
      view_(owner, number),
      policy_(owner.options().steal(view_)) {
  index = number;
  siblings = owner.options().workers;
  signs = &owner.signs();
  native_.owner = this;
  SHOAL_ASSERT(policy_ != nullptr, "the maker of a victim policy gives one for each worker");
  round_ = policy_->round() != 0 ? policy_->round() : siblings - 1;
  for (unsigned i = 0; i < siblings; ++i) reached_.push_back(i != index && policy_->reaches(i));
  if (std::ranges::none_of(reached_, std::identity())) round_ = 0;
  unreached_ = siblings - 1 - static_cast<unsigned>(std::ranges::count(reached_, true));
}

worker::~worker() {
  if (movable_ != nullptr) collect_movable();
}

void worker::use_doorbell(lockfree::doorbell<>& bell, bool shared_by_processes) noexcept {
  bell_ = &bell;
  bell_shared_ = shared_by_processes;
}

void worker::run_thread() noexcept {
  const fiber::tsan_ignore_scope ignore;  // the thread's own state, which all its stacks read
  const machine::alternate_stack handlers(for_signals_);
  if (!handlers.in_use())
    base::warn("worker {}: the system refuses a stack for signal handlers; faults go unexplained", index);
  detail::t_worker = this;
  detail::t_port = port;
  exceptions_ = fiber::exception_state_of_this_thread();
  error_number_ = &errno;
  fiber::adopt_thread(native_, native_notes_);
  current_ = &native_;
  native_bottom_ = machine::own_stack_bottom();
  native_idle_ = false;
  about_now_ = owner_.rough_now();
  if (profile_recorder* const p = profile(); p != nullptr) p->join(profile_state::spin);
  std::shared_ptr<void> around;
  if (owner_.options().around_thread) around = owner_.options().around_thread(index);
  if (first_ != nullptr) {
    started begun;
    native_notes_.running = &begun;
    run(*first_, begun, profile_operation::get, false);
  }
  loop(native_);
  around.reset();
  fiber::acquire_from(this);
  drop_placed();
  drop_blocks();
  detail::t_worker = nullptr;
  detail::t_port = nullptr;
}

void worker::on_fresh_stack() noexcept {
  auto& w = *this_worker();
  const fiber::tsan_ignore_scope ignore;
  fiber::arrived(*w.current_);
  fiber::acquire_from(w.current_->notes);  // partner: stack_pool::put() of the fiber that had this stack before
#if SHOAL_TSAN
  w.current_->sanitizer.unwatched_for_ever = true;
#endif
  w.loop(*w.current_);  // does not return on a stack of the pool
}

// A loop gives its stack back, on which only the loop runs, and switches to a runnable task.
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
  fiber::fiber* const f = stacks_.take();
  if (stacks_.unguarded()) [[unlikely]]
    looks_before_leaving |= k_stack_depth;
  return f;
}

void worker::run(task& t, started& begun, profile_operation how, bool spawned) noexcept {
  begun.number = ++counts_.run;
  begun.code = reinterpret_cast<const void*>(t.run);
  begun.node = nullptr;
  begun.group = t.group;
  if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
    p->begins(how, spawned, begun.code);
  fiber::acquire_from(&t);
  const fiber::watched program;
  t.run(t);
  if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
    p->ended();
}

void worker::loop(fiber::fiber& self) noexcept {
  started begun;
  self.notes->running = &begun;
  bool ready_first = false;  // a runnable task continues now, also before urgent ones
  for (;;) {
    if (owner_.stopping()) {
      if (&self == &native_) return;
      SHOAL_ASSERT(native_idle_, "a pool stops only when none of its tasks waits");
      native_idle_ = false;
      hand_over(self, {&native_, 0});
    }
    if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
      p->turn();
    take_inbox();
    if (turns < 0) {
      ready_first = std::exchange(used_up_, false);
      profile_operation how = profile_operation::get;
      task* const t = serve(how, ready_first);
      if (t != nullptr) {
        const unsigned counted = ready_first ? 1 : 0;
        interposed_ += counted;
        run(*t, begun, how);
        interposed_ -= counted;
        continue;
      }
    }
    if (!ready_.empty() && (ready_first || !owner_.urgent())) {
      if (!spend_turn() && !ready_first) continue;
      ready_first = false;
      if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
        p->hands_over();
      hand_over(self, ready_.pop());
      continue;
    }
    if (task* t = next_own()) {
      run(*t, begun);
      spend_turn();
      continue;
    }
    if (poll_once() || owner_.take_submitted(*this)) continue;
    if (task* t = steal()) {
      run(*t, begun, profile_operation::steal);
      spend_turn();
      continue;
    }
    if (task* t = next_apart()) {
      run(*t, begun);
      continue;
    }
    while (!idle(begun)) {
      park(true);
      if (!searching_) break;
    }
  }
}

void worker::add_arrived(task& t) {
  arrived_.push(&t);
  if (signs->wake.on()) [[unlikely]]
    owner_.wake_one(this);
}

// In the order in which they were given: messages of ranks travel so. None waits, so this function does not run twice.
void worker::run_errands() noexcept {
  for (std::size_t i = 0; i < mine_.size(); ++i) {
    ++no_wait_scopes;
    started own;  // the stack may belong to a waiting task, whose name must stay
    run(*mine_[i], own, profile_operation::get, false);
    --no_wait_scopes;
  }
  mine_.clear();
}

// Whether no more iterations of outermost loops may begin. Other tasks count only against a share: what they wait for
// may be the very iterations that are held back.
bool worker::full() noexcept {
  const fiber::tsan_ignore_scope ignore;
  constexpr std::size_t k_share = 16;
  if (!ended_elsewhere_.empty()) [[unlikely]]
    collect_movable();
  const std::size_t begun = outermost_begun_ + outermost_moved_;
  if (begun >= most_waiting_) return true;
  const std::size_t stacks = stacks_.in_use() + (movable_ != nullptr ? movable_->in_use() : 0);
  return stacks >= most_waiting_ && begun >= std::max(most_waiting_ / k_share, k_least_outermost);
}

// What others gave this worker: errands, at once; urgent tasks; tasks placed here.
task* worker::next_given() noexcept {
  if (!mine_.empty()) [[unlikely]]
    run_errands();
  if (owner_.urgent()) [[unlikely]]
    if (task* t = owner_.by_priority().take(index, priority::high)) return t;
  if (placed_first_ != nullptr) [[unlikely]]
    return next_placed();
  return nullptr;
}

task* worker::take_arrived() noexcept {
  while (!arrived_.seems_empty())
    if (const auto taken = arrived_.steal(); taken.outcome == lockfree::steal_outcome::won) return taken.item;
  return nullptr;
}

// What may begin now: the above; arrived tasks, in turn with the deque; tasks that this worker keeps; and ranges put
// aside if few enough iterations wait.
task* worker::next_own() noexcept {
  if (task* t = next_given()) return t;
  arrived_first_ = !arrived_first_;
  if (arrived_first_)
    if (task* t = take_arrived()) return t;
  if (task* t = tasks.pop()) return t;
  if (!arrived_first_)
    if (task* t = take_arrived()) return t;
  if (kept_ != nullptr) [[unlikely]] {
    if (profile_recorder* const p = profile(); p != nullptr) p->begins_unspawned();
    return std::exchange(kept_, static_cast<placed_task*>(kept_->next.read()));
  }
  if (deferred_may_begin()) {
    task* t = deferred_.back();
    deferred_.pop_back();
    if (profile_recorder* const p = profile(); p != nullptr) p->begins_unspawned();
    return t;
  }
  return nullptr;
}

// What begins only when no worker within reach has anything else.
task* worker::next_apart() noexcept {
  if (!owner_.anything_apart()) return nullptr;
  for (const priority p : {priority::low, priority::background})
    if (task* t = owner_.by_priority().take(index, p)) return t;
  return nullptr;
}

task* worker::next_placed() noexcept {
  placed_task* t = placed_first_;
  placed_first_ = static_cast<placed_task*>(t->next.read());
  if (profile_recorder* const p = profile(); p != nullptr) p->begins_unspawned();
  return t;
}

void worker::keep(placed_task& t) noexcept {
  const fiber::tsan_ignore_scope ignore;
  fiber::release_to(static_cast<task*>(&t));
  if (++spawn_clock == 0) time_next_spawn(1);
  t.next.write(std::exchange(kept_, &t));
}

bool worker::defer_if_full(detail::loop_state& loop, task& t) noexcept {
  if (!loop.outermost || !full()) return false;
  const fiber::tsan_ignore_scope ignore;
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
  if (auto* node = static_cast<placed_task*>(placed_.take_all()); node != nullptr) [[unlikely]] {
    if (placed_first_ == nullptr)
      placed_first_ = node;
    else
      placed_last_->next.write(node);
    while (node->next.read() != nullptr) node = static_cast<placed_task*>(node->next.read());
    placed_last_ = node;
    any = true;
  }
  return any;
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
  if (profiled != nullptr) profiled->leaves(why, current_);
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

// Copies, so that a yield has no note to write, and leaving without a profile one test more, not three.
std::uint64_t worker::leave() noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (profile() != nullptr) [[unlikely]]
    return leave_timed(false, detail::wait_kind::none, nullptr);
  return leave_as(nullptr, false, detail::wait_kind::none, nullptr);
}
std::uint64_t worker::leave(detail::wait_kind why, const void* object) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (profile() != nullptr) [[unlikely]]
    return leave_timed(true, why, object);
  return leave_as(nullptr, true, why, object);
}
[[gnu::noinline]] std::uint64_t worker::leave_timed(bool waits, detail::wait_kind why, const void* object) noexcept {
  return leave_as(profile(), waits, why, object);
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

bool worker::poll() noexcept {
  const fiber::tsan_ignore_scope ignore;
  return poll_once();
}

bool worker::poll_once() noexcept {
  const std::uint64_t count = polls.load(std::memory_order_relaxed) + 1;
  polls.store(count, std::memory_order_relaxed);
  if (count % k_polls_per_tending == 0) [[unlikely]]
    tend_stacks();
  if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
    return poll_timed(*p);
  return owner_.hooks().poll(*this) | (!woken_.empty() && take_inbox());
}

}  // namespace shoal::sched
