// SPDX-License-Identifier: Apache-2.0
#include "sched/cycle_search.hpp"

#include <fmt/format.h>

#include <utility>

#include "fiber/sanitizer.hpp"
#include "sched/filling.hpp"
#include "shoal/detail/future_state.hpp"

namespace shoal::sched {
namespace {

using detail::future_state;
using fiber::stack_notes;
using word = detail::completion_word<>;

std::string name_of(const char* name, std::uint64_t number) {
  if (name != nullptr) return fmt::format("task '{}'", name);
  return fmt::format("task no. {} of worker {}", static_cast<std::uint32_t>(number),
                     (number & ~future_state::k_may_be_dropped) >> future_state::k_worker_shift);
}

bool is_edge(std::uintptr_t edge) noexcept { return edge != stack_notes::k_no_edge && !stack_notes::is_open(edge); }

// Follows a cycle once around from `first`; false if it has been broken meanwhile. `seen` gets what tells one set of
// waits from another.
bool follow(const stack_notes& first, std::uint64_t& seen, std::string* names) {
  seen = 0;
  const stack_notes* milestone = nullptr;  // others may wait in a cycle without this stack
  std::uint64_t steps = 0;
  std::uint64_t until = 1;
  for (const stack_notes* at = &first;;) {
    constexpr std::uint64_t k_multiplier = 0x9e3779b97f4a7c15;
    seen = (seen ^ at->wait_number()) * k_multiplier;
    const std::uintptr_t edge = at->waits_for.load(std::memory_order_seq_cst);
    if (!is_edge(edge)) return false;
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

// The error message, if `me` is in a cycle of waits; else empty.
std::string describe_cycle(const stack_notes& me) {
  std::uint64_t before = 0;
  if (!follow(me, before, nullptr)) return {};
  // Only a stack that is to fill a result can have waiters.
  const future_state& own = *static_cast<const filling*>(me.fills)->state;
  std::string names = name_of(own.name, own.number);
  // Each wait seen both times existed in between: if all were, they existed together.
  std::uint64_t after = 0;
  if (!follow(me, after, &names) || after != before) return {};
  return "tasks wait for each other's futures in a cycle: " + names +
         "; let one of them take the value with then(), or begin it without";
}

// Takes the wait back, unless the result has come after all.
bool give_up(future_wait& w) noexcept {
  // Whoever is to fill it may have shown its place in our notes meanwhile, instead of in the word.
  const std::uintptr_t place = w.me.waits_for.load(std::memory_order_seq_cst);
  const std::uintptr_t before = is_edge(place) ? place | word::k_place : w.before;
  if (!w.state.word.take_back(word::tagged(&w.me, word::k_waiter), before)) return false;
  w.me.close_wait();
  return true;
}

}  // namespace

edge_walk::result edge_walk::advance(unsigned most_steps, std::uint64_t& counted) noexcept {
  for (; most_steps > 0; --most_steps) {
    ++counted;
    const std::uintptr_t edge = at_->waits_for.load(std::memory_order_seq_cst);
    if (!is_edge(edge)) return result::no_cycle;
    at_ = reinterpret_cast<const stack_notes*>(edge);
    if (at_ == first_) return result::cycle;
    if (at_ == milestone_) return result::no_cycle;
    if (++steps_ == until_) {
      milestone_ = at_;
      until_ *= 2;
    }
  }
  return result::unfinished;
}

bool cycle_searches::begin(future_wait& w) {
  // Partner: draw_edge() of whoever waits for this stack. Both set the mark, draw their edge and then look at the mark,
  // so the stack that adds the last edge of a cycle finds itself marked.
  if (!w.me.is_awaited()) return false;
  const fiber::tsan_ignore_scope ignore;
  return look(w, k_steps_at_once, steps_at_once_);
}

void cycle_searches::end(future_wait& w) noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (w.queued) remove(w);
}

void cycle_searches::go_on() noexcept {
  const fiber::tsan_ignore_scope ignore;
  future_wait& w = *first_;
  remove(w);
  if (look(w, k_steps_later, steps_later_)) detail::wake(reinterpret_cast<detail::suspended*>(w.me.of));
}

bool cycle_searches::look(future_wait& w, unsigned most_steps, std::uint64_t& counted) {
  switch (w.walk.advance(most_steps, counted)) {
    case edge_walk::result::no_cycle: return false;
    case edge_walk::result::unfinished: enter(w); return false;
    case edge_walk::result::cycle: break;
  }
  std::string cycle = describe_cycle(w.me);
  if (cycle.empty() || !give_up(w)) return false;
  w.cycle = std::move(cycle);
  return true;
}

void cycle_searches::enter(future_wait& w) noexcept {
  w.queued = true;
  w.previous = nullptr;
  w.next = first_;
  if (first_ != nullptr) first_->previous = &w;
  first_ = &w;
}

void cycle_searches::remove(future_wait& w) noexcept {
  w.queued = false;
  (w.previous != nullptr ? w.previous->next : first_) = w.next;
  if (w.next != nullptr) w.next->previous = w.previous;
}

}  // namespace shoal::sched
