// SPDX-License-Identifier: Apache-2.0
#include "shoal/future.hpp"

#include <fmt/format.h>

#include <new>
#include <string>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "sched/cycle_search.hpp"
#include "sched/filling.hpp"
#include "sched/movable.hpp"
#include "sched/open_pools.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/any_state.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {
namespace {

using fiber::stack_notes;
using sched::filling;

using word_type = completion_word<>;

stack_notes& notes_here() noexcept { return *sched::this_worker()->current()->notes; }

sched::pool& pool_here() noexcept { return sched::this_worker()->owner(); }

// Of a promise's state that has a successor: where that was attached.
std::uint64_t follower_pool(const future_state& s) noexcept { return reinterpret_cast<std::uintptr_t>(s.group); }

const void* number_of_pool() noexcept {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(pool_here().number()));  // NOLINT: never followed
}

// Edges stay within a pool: another pool may be destroyed before a search follows them.
bool is_near(const stack_notes& notes) noexcept { return sched::this_worker()->owner().owns(&notes); }

// `waiter` waits for what the stack of `place` is to fill, unless that wait is over. Partner: cycle_searches::begin().
void draw_edge(stack_notes& waiter, std::uintptr_t open, stack_notes& place) noexcept {
  place.mark_awaited();
  waiter.waits_for.compare_exchange_strong(open, reinterpret_cast<std::uintptr_t>(&place), std::memory_order_seq_cst);
}

// Whoever waits for `s`, which this stack is to fill, is to find this stack.
void show_place(future_state* s, stack_notes& here) noexcept {
  for (std::uintptr_t word = s->word.look();;) {
    const std::uintptr_t tag = word_type::tag_of(word);
    if (word == word_type::k_nobody || tag == word_type::k_place) {
      if (s->word.replace(word, word_type::tagged(&here, word_type::k_place))) return;
    } else if (tag == word_type::k_successor) {
      s = word_type::pointer_in<future_state>(word);
      word = s->word.look();
    } else {
      if (tag != word_type::k_waiter) return;
      // It may give up (another task closed a cycle) and wait elsewhere: the wait is this one if the word still says
      // so.
      stack_notes& waiter = *word_type::pointer_in<stack_notes>(word);
      if (!is_near(waiter)) return;
      const std::uintptr_t open = waiter.waits_for.load(std::memory_order_seq_cst);
      if (s->word.look() == word && stack_notes::is_open(open)) draw_edge(waiter, open, here);
      return;
    }
  }
}

// Waits; returns the error message if the wait closes a cycle, else an empty string.
std::string wait_for(future_state& s) {
  if (s.word.is_done()) return {};
  auto& w = static_cast<sched::worker&>(worker_here());
  take_turn(w);
  if (w.has_room() && unspawn(w, s)) {  // it has not begun: this task runs it
    fiber::acquire_from(&s);
    run_future(s);
    if (s.word.is_done()) [[likely]]
      return {};  // else it is a coroutine that waits
  }
  stack_notes& me = notes_here();
  std::uintptr_t open = 0;
  {
    const fiber::tsan_ignore_scope ignore;
    open = me.open_wait(w.next_wait());
  }
  me.awaited_name.store(s.name, std::memory_order_relaxed);
  me.awaited_number.store(s.number, std::memory_order_relaxed);
  for (auto* f = me.fills; f != nullptr; f = f->outer) show_place(static_cast<filling*>(f)->state, me);
  sched::moving_wait moving;
  const std::uintptr_t word = s.word.wait(word_type::tagged(&me, word_type::k_waiter));
  if (word == word_type::k_done) {
    me.close_wait();
    return {};
  }
  if (word != word_type::k_nobody) {
    stack_notes& place = *word_type::pointer_in<stack_notes>(word);
    if (is_near(place)) draw_edge(me, open, place);
  }
  sched::future_wait wait(me, s, word);
  if (!w.searches().begin(wait)) {
    const bool queued = wait.queued;
    // The completer has ended the wait, or a search that found a cycle.
    moving.leave(s.of->from_outside ? wait_kind::promise : wait_kind::future, &s);
    if (queued && moving.moves()) sched::return_to(w);  // whose list it is in
    if (queued) w.searches().end(wait);
  }
  return std::move(wait.cycle);
}

}  // namespace

void run_future(task& t) noexcept {
  stack_notes& here = notes_here();
  const sched::known_as named_by_filling(sched::this_worker()->begun(), nullptr, nullptr);
  filling f;
  f.state = static_cast<future_state*>(&t);
  f.outer = std::exchange(here.fills, &f);
  bool counted = false;
  for (;;) {
    counted = f.state->may_be_detached();  // a successor takes over the count of a state that had one
    const scope* const mine = f.state->scope();
    if (needs_scope(mine)) [[unlikely]] {
      const within_scope body(mine);
      f.state = f.state->of->step(*f.state);
    } else {
      f.state = f.state->of->step(*f.state);
    }
    if (f.state == nullptr) break;
    if (counted && !f.state->may_be_detached()) pool_here().end_detached();  // a coroutine's, which awaited a promise
    sched::stay_here();
    take_turn(*t_worker);
  }
  here.fills = f.outer;
  if (f.outer == nullptr) here.forget_awaited();
  if (counted) pool_here().end_detached();
}

future_state* finish(future_state& s) noexcept {
  sched::note_end();
  leave_scope(s);  // before the waiter, which may end the scope, goes on
  // The previous value of the word tells what runs next.
  const std::uintptr_t word = s.word.complete();
  const std::uintptr_t tag = word_type::tag_of(word);
  if (tag == word_type::k_successor || tag == word_type::k_guest) return word_type::pointer_in<future_state>(word);
  if (tag == word_type::k_waiter) {
    auto& waiter = *word_type::pointer_in<stack_notes>(word);
    waiter.close_wait();
    wake(reinterpret_cast<suspended*>(waiter.of));
  } else if (word == word_type::k_dropped) {
    if (s.thrown) report_dropped(s.thrown, s.name);
    s.of->dispose(s);
  }
  return nullptr;
}

namespace {
void spawn_or_run(future_state& next) noexcept {
  try {
    spawn(worker_here(), next);
  } catch (...) {  // no memory to enlarge the deque
    run_future(next);
  }
}

// On a thread that is no worker of `pool`: `next` becomes a task there. False if that pool has ended.
bool follow_in(std::uint64_t pool, future_state& next) noexcept {
  struct follows final : sched::errand {
    future_state* follower = nullptr;
  };
  auto* const made = new (std::nothrow) follows;
  SHOAL_ASSERT(made != nullptr, "there is no memory for the task that is to follow a promise");
  made->follower = &next;
  made->run = [](task& t) noexcept {
    auto* const self = static_cast<follows*>(static_cast<sched::errand*>(&t));
    future_state& begun = *self->follower;
    delete self;
    sched::worker& here = *sched::this_worker();
    here.wait_from_outside(-1);
    if (sched::profile_recorder* const p = here.profile(); p != nullptr) p->begins_unspawned();
    run_future(begun);
  };
  const bool accepted = sched::submit_detached(pool, *made);
  if (!accepted) delete made;
  return accepted;
}
}  // namespace

void finish_elsewhere(future_state& s) noexcept {
  const bool detaches = s.may_be_detached();  // a promise: it is not counted itself
  const bool is_promise = s.of->from_outside;
  future_state* const next = finish(s);
  if (next == nullptr) return;
  if (is_promise) {  // `s` belongs to `next`, which has not run
    if (t_worker != nullptr && pool_here().number() == follower_pool(s))
      sched::this_worker()->wait_from_outside(-1);
    else if (follow_in(follower_pool(s), *next))
      return;
    if (t_worker == nullptr)
      return base::warn(
          "a thread has set or destroyed the promise{}{} after the pool in which then(), when_any() or co_await was "
          "called had ended: what was to follow does not run",
          s.name != nullptr ? " " : "", s.name != nullptr ? s.name : "");
  }
  if (detaches) pool_here().begin_detached();
  spawn_or_run(*next);
}

void await(future_state& s) {
  if (s.of->await != nullptr) return static_cast<void>(s.of->await(s, nullptr));
  if (const std::string cycle = wait_for(s); !cycle.empty()) throw error(errc::deadlock, cycle);
}

// It draws no edge and keeps none open, so searches for cycles end at it; and it stays on its worker, whose timer it is.
bool await_until(future_state& s, time_limit until) {
  if (until.due_ns() == time_limit::k_never) {
    await(s);
    return true;
  }
  if (s.of->await != nullptr) return s.of->await(s, &until);
  if (s.word.is_done()) return true;
  if (until.is_past()) {
    yield();  // it may be called in a loop
    return s.word.is_done();
  }
  struct alarm final : sched::timer {
    explicit alarm(future_state& awaited) noexcept
        : timer([](sched::timer& t) noexcept {
            auto& self = static_cast<alarm&>(t);
            self.passed = self.of.word.take_back(self.mark, self.before);
            if (self.passed) wake(self.task);
          }),
          of(awaited) {}
    future_state& of;
    std::uintptr_t mark = 0;
    std::uintptr_t before = 0;
    suspended* task = nullptr;
    bool passed = false;
  } at_limit(s);
  sched::worker& w = *sched::this_worker();
  at_limit.mark = word_type::tagged(&notes_here(), word_type::k_waiter);
  at_limit.task = this_task();
  w.timers().add(at_limit, until.due_ns());
  at_limit.before = s.word.wait(at_limit.mark);
  if (at_limit.before != word_type::k_done) leave(wait_kind::time, &s);
  w.timers().end(at_limit);
  return !at_limit.passed;
}

// `s` that follows from no promise will complete, so its detached successor is counted from now on.
namespace {
bool attach_as(std::uintptr_t tag, future_state& s, future_state& next) noexcept {
  const bool counts = next.may_be_detached() && !s.may_be_detached();
  if (counts) pool_here().begin_detached();
  if (s.of->from_outside) {
    s.group = number_of_pool();                  // whoever completes `s` reads it when `next` is attached
    sched::this_worker()->wait_from_outside(1);  // until `next` is a task
  }
  const bool attached =
      s.of->attach != nullptr ? s.of->attach(s, next) : s.word.attach(word_type::tagged(&next, tag), next.word);
  if (attached) return true;
  if (counts) pool_here().end_detached();
  if (s.of->from_outside) sched::this_worker()->wait_from_outside(-1);
  return false;
}
}  // namespace

bool attach(future_state& s, future_state& next) noexcept { return attach_as(word_type::k_successor, s, next); }
bool attach_guest(future_state& s, future_state& next) noexcept { return attach_as(word_type::k_guest, s, next); }

// The place of whoever is to fill `s` has gone to the successor; cycles through `s` are found no more.
bool detach(future_state& s, future_state& next) noexcept {
  if (!s.word.take_back(word_type::tagged(&next, word_type::k_guest), word_type::k_nobody)) return false;
  if (next.may_be_detached() && !s.may_be_detached()) pool_here().end_detached();
  if (s.of->from_outside && follower_pool(s) == pool_here().number()) sched::this_worker()->wait_from_outside(-1);
  return true;
}

void spawn_attached(future_state& next) noexcept {
  if (next.may_be_detached()) pool_here().begin_detached();
  spawn_or_run(next);
}

void drop(future_state& s) noexcept {
  if (s.of->await == nullptr) {
    if (s.may_be_detached() && !s.of->drop_waits) {
      if (s.word.drop()) return;
    } else if (!s.word.is_done()) {
      worker_here();
      const std::string cycle = wait_for(s);
      SHOAL_ASSERT(cycle.empty(), cycle.c_str());
    }
  }
  if (s.thrown) report_dropped(s.thrown, s.name);
  s.of->dispose(s);
}

std::exception_ptr broken_promise(const future_state& s) {
  return std::make_exception_ptr(
      error(errc::abandoned, fmt::format("the promise {} was destroyed before it was set; set a value or an exception",
                                         s.name != nullptr ? fmt::format("'{}'", s.name) : "of this future")));
}

}  // namespace shoal::detail
