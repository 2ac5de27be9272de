// SPDX-License-Identifier: Apache-2.0
#include "shoal/future.hpp"

#include <fmt/format.h>

#include <string>

#include "fiber/sanitizer.hpp"
#include "sched/filling.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"

namespace shoal::detail {
namespace {

using fiber::stack_notes;
using sched::filling;

template <class T>
T* pointer_in(std::uintptr_t word) noexcept {
  return reinterpret_cast<T*>(word & ~future_state::k_tags);
}
std::uintptr_t tagged(const void* p, std::uintptr_t tag) noexcept { return reinterpret_cast<std::uintptr_t>(p) | tag; }
std::uintptr_t tag_of(std::uintptr_t word) noexcept { return word & future_state::k_tags; }

stack_notes& notes_here() noexcept { return *sched::this_worker()->current()->notes; }

std::string name_of(const char* name, std::uint64_t number) {
  if (name != nullptr) return fmt::format("task '{}'", name);
  return fmt::format("task no. {} of worker {}", static_cast<std::uint32_t>(number),
                     (number & ~future_state::k_may_be_dropped) >> future_state::k_worker_shift);
}

// Edges stay within a pool: another may be gone before somebody follows them.
bool is_near(const stack_notes& notes) noexcept { return sched::this_worker()->owner().owns(notes); }

// `waiter` waits for what the stack of `place` is to fill, unless that wait is over.
void draw_edge(stack_notes& waiter, std::uintptr_t open, stack_notes& place) noexcept {
  waiter.waits_for.compare_exchange_strong(open, reinterpret_cast<std::uintptr_t>(&place), std::memory_order_seq_cst);
}

// Whoever waits for `s`, which this stack is to fill, is to find this stack.
void show_place(future_state* s, stack_notes& here) noexcept {
  for (std::uintptr_t word = s->word.load(std::memory_order_seq_cst);;) {
    if (word == future_state::k_nobody || tag_of(word) == future_state::k_place) {
      if (s->word.compare_exchange_weak(word, tagged(&here, future_state::k_place), std::memory_order_seq_cst)) return;
    } else if (tag_of(word) == future_state::k_successor) {
      s = pointer_in<future_state>(word);
      word = s->word.load(std::memory_order_seq_cst);
    } else {
      if (tag_of(word) != future_state::k_waiter) return;
      // It may give up (another task closed a circle) and wait elsewhere: the wait is this one if the word still says
      // so.
      stack_notes& waiter = *pointer_in<stack_notes>(word);
      if (!is_near(waiter)) return;
      const std::uintptr_t open = waiter.waits_for.load(std::memory_order_seq_cst);
      if (s->word.load(std::memory_order_seq_cst) == word && stack_notes::is_open(open)) draw_edge(waiter, open, here);
      return;
    }
  }
}

// Follows the edges from `first`; true if they come back to it. `seen` gets what tells one set of waits from another.
bool follow(const stack_notes& first, std::uint64_t& seen, std::string* names) {
  seen = 0;
  const stack_notes* milestone = nullptr;  // others may wait in a circle that does not concern us
  std::uint64_t steps = 0;
  std::uint64_t until = 1;
  for (const stack_notes* at = &first;;) {
    constexpr std::uint64_t k_multiplier = 0x9e3779b97f4a7c15;
    seen = (seen ^ at->waits.load(std::memory_order_seq_cst)) * k_multiplier;
    const std::uintptr_t edge = at->waits_for.load(std::memory_order_seq_cst);
    if (edge == stack_notes::k_no_edge || stack_notes::is_open(edge)) return false;
    if (names != nullptr)
      *names += " waits for " + name_of(at->awaited_name.load(std::memory_order_relaxed),
                                        at->awaited_number.load(std::memory_order_relaxed));
    seen = (seen ^ edge) * k_multiplier;
    at = reinterpret_cast<const stack_notes*>(edge);
    if (at == &first) return true;
    if (names != nullptr) *names += ", which";
    if (at == milestone) return false;
    if (++steps == until) {
      milestone = at;
      until *= 2;
    }
  }
}

// The sentence, if what `me` waits for waits for `me`; empty if not.
std::string find_cycle(const stack_notes& me) {
  std::uint64_t before = 0;
  if (!follow(me, before, nullptr)) return {};
  // Only who is to fill a result can be waited for.
  const future_state& own = *static_cast<const filling*>(me.fills)->state;
  std::string names = name_of(own.name, own.number);
  // Each wait seen both times existed in between: if all were, they existed together.
  std::uint64_t after = 0;
  if (!follow(me, after, &names) || after != before) return {};
  return "tasks wait for each other's futures in a circle: " + names +
         "; let one of them take the value with then(), or begin it without";
}

// Waits; the sentence if that would never end.
std::string wait_for(future_state& s) {
  if (s.word.load(std::memory_order_acquire) == future_state::k_ready) return {};
  auto& w = static_cast<sched::worker&>(worker_here());
  if (unspawn(w, s)) {  // nobody has begun it: it is this task's own to run
    fiber::acquire_from(&s);
    run_future(s);
    return {};
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
  std::uintptr_t word = s.word.load(std::memory_order_seq_cst);
  for (;;) {
    if (word == future_state::k_ready) {
      me.close_wait();
      return {};
    }
    SHOAL_ASSERT(word == future_state::k_nobody || tag_of(word) == future_state::k_place,
                 "two tasks wait for one future; give the second one a future of its own");
    if (s.word.compare_exchange_weak(word, tagged(&me, future_state::k_waiter), std::memory_order_seq_cst)) break;
  }
  if (word != future_state::k_nobody && is_near(*pointer_in<stack_notes>(word)))
    draw_edge(me, open, *pointer_in<stack_notes>(word));
  std::string cycle = find_cycle(me);
  if (!cycle.empty()) {
    std::uintptr_t waiting = tagged(&me, future_state::k_waiter);
    // Whoever is to fill it may have shown its place in our notes meanwhile, instead of in the word.
    const std::uintptr_t place = me.waits_for.load(std::memory_order_seq_cst);
    if (place != fiber::stack_notes::k_no_edge && !fiber::stack_notes::is_open(place))
      word = place | future_state::k_place;
    if (s.word.compare_exchange_strong(waiting, word, std::memory_order_seq_cst)) {
      me.close_wait();
      return cycle;
    }
  }
  leave();  // whoever completes it has closed the wait
  return {};
}

}  // namespace

void run_future(task& t) noexcept {
  stack_notes& here = notes_here();
  const sched::known_as named_by_filling(sched::this_worker()->begun(), nullptr, nullptr);
  filling f;
  f.state = static_cast<future_state*>(&t);
  f.outer = std::exchange(here.fills, &f);
  while (f.state != nullptr) f.state = f.state->of->step(*f.state);
  here.fills = f.outer;
}

future_state* finish(future_state& s) noexcept {
  sched::note_end();
  // Partners: wait_for(), attach(), drop(). What the word said before says who goes on.
  const std::uintptr_t word = s.word.exchange(future_state::k_ready, std::memory_order_seq_cst);
  if (tag_of(word) == future_state::k_successor) return pointer_in<future_state>(word);
  if (tag_of(word) == future_state::k_waiter) {
    auto& waiter = *pointer_in<stack_notes>(word);
    waiter.close_wait();
    wake(reinterpret_cast<suspended*>(waiter.of));
  } else if (word == future_state::k_dropped) {
    if (s.thrown) report_dropped(s.thrown, s.name);
    s.of->dispose(s);
  }
  return nullptr;
}

void finish_elsewhere(future_state& s) noexcept {
  if (future_state* const next = finish(s); next != nullptr) spawn(worker_here(), *next);
}

void await(future_state& s) {
  if (s.of->await != nullptr) return s.of->await(s);
  if (const std::string cycle = wait_for(s); !cycle.empty()) throw error(errc::deadlock, cycle);
}

bool attach(future_state& s, future_state& next) noexcept {
  if (s.of->attach != nullptr) return s.of->attach(s, next);
  for (std::uintptr_t word = s.word.load(std::memory_order_acquire);;) {
    if (word == future_state::k_ready) return false;
    // It is to be filled where `s` is; nobody else knows `next` yet.
    next.word.store(word, std::memory_order_relaxed);
    if (s.word.compare_exchange_weak(word, tagged(&next, future_state::k_successor), std::memory_order_seq_cst,
                                     std::memory_order_acquire))
      return true;
  }
}

void drop(future_state& s) noexcept {
  if (s.of->await == nullptr) {
    if ((s.number & future_state::k_may_be_dropped) != 0) {
      for (std::uintptr_t word = s.word.load(std::memory_order_acquire); word != future_state::k_ready;)
        if (s.word.compare_exchange_weak(word, future_state::k_dropped, std::memory_order_seq_cst,
                                         std::memory_order_acquire))
          return;
    } else if (s.word.load(std::memory_order_acquire) != future_state::k_ready) {
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
