// SPDX-License-Identifier: Apache-2.0
#include "sched/worker.hpp"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <optional>
#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/library_threads.hpp"
#include "machine/thread_id.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::sched {

using detail::task;

worker::worker(pool& owner, unsigned number, std::size_t most_waiting)
    : owner_(owner),
      native_notes_(owner.native_notes(number)),
      timers_(owner.executor()),
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
  started outside;  // also for who asks which task runs while none does
  native_notes_.running = &outside;
  std::optional<machine::library_threads> libraries;
  if (owner_.options().single_threaded_libraries) libraries.emplace();
  std::shared_ptr<void> around;
  if (owner_.options().around_thread) around = owner_.options().around_thread(index);
  std::unique_ptr<stack_sampler> sampled = owner_.profiling().sample(index);
  if (first_ != nullptr) run(*first_, outside, profile_operation::get, false);
  loop(native_);
  native_notes_.running = &outside;
  sampled.reset();
  around.reset();
  libraries.reset();
  native_notes_.running = nullptr;
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
    if (!owner_.is_active(index)) [[unlikely]] {
      go_on_inactive(begun);
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
      if (!searching_ || !owner_.is_active(index)) break;
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
  return next_kept();
}

task* worker::next_kept() noexcept {
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
  bool any = timers_.due(about_now_) && timers_.fire();
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

bool worker::poll() noexcept {
  const fiber::tsan_ignore_scope ignore;
  return poll_once();
}

bool worker::poll_once() noexcept {
  const std::uint64_t count = polls.load(std::memory_order_relaxed) + 1;
  polls.store(count, std::memory_order_relaxed);
  if (count % k_polls_per_tending == 0) [[unlikely]] {
    tend_stacks();
    if (work_source* const source = owner_.source(); source != nullptr) source->tend(*this);
    if (!timers_.empty()) about_now_ = owner_.rough_now();
  }
  if (profile_recorder* const p = profile(); p != nullptr) [[unlikely]]
    return poll_timed(*p);
  return owner_.hooks().poll(*this) | (!woken_.empty() && take_inbox());
}

}  // namespace shoal::sched
