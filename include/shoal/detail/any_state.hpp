// SPDX-License-Identifier: Apache-2.0
// The shared state of when_any: it is the successor of every part, through a counter for each, and gives the parts back
// when one of them has its result. The counters of the others are then taken back out of the parts' words. Where that comes
// too late, the counter is about to run: the state is complete, and its owner may destroy it, only when all counters have
// run or have been taken back.
// Who may call: shoal/when_any.hpp; the counters run where parts complete. Nothing here waits.
// Tests: tests/unit/sched/when_any_test.cpp, tests/stress/when_any_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "shoal/detail/future_state.hpp"
#include "shoal/future.hpp"

namespace shoal {

template <class Sequence>
struct when_any_result {
  std::size_t index = 0;
  Sequence futures;  // all that were given
};

namespace detail {

/// As attach(), for a successor that detach() may take back; which is false if that runs, or is about to.
bool attach_guest(future_state& s, future_state& next) noexcept;
bool detach(future_state& s, future_state& next) noexcept;

template <class Parts, class Sequence>
struct any_state final : future_value<when_any_result<Sequence>> {
  struct counter final : future_state {
    counter() noexcept : future_state(k_counter_kind) {}
    any_state* whole = nullptr;
    future_state* part = nullptr;
    bool attached = false;
  };

  explicit any_state(Parts given)
      : future_value<when_any_result<Sequence>>(k_kind), parts(std::move(given)), counters(parts.size()) {
    parts.visit([this](future_state& s) {
      this->number |= s.number & future_state::k_may_be_dropped;
      // The task of `s` may use objects that live only as long as its future. Dropping waits until the first result is
      // there, which comes at the latest when that task ends.
      if (!s.may_be_detached()) this->of = &k_waiting_kind;
    });
    for (counter& c : counters) c.number |= this->number & future_state::k_may_be_dropped;
  }

  void start() noexcept {
    left.store(counters.size() + 1, std::memory_order_relaxed);
    std::size_t place = 0;
    std::size_t unused = 1;
    parts.visit([this, &place, &unused](future_state& part) {
      counter& mine = counters[place];
      mine.whole = this;
      mine.part = &part;
      mine.attached = winner.load(std::memory_order_relaxed) == k_none && attach_guest(part, mine);
      if (!mine.attached) {
        ++unused;
        if (part.is_ready()) win(place);
      }
      ++place;
    });
    if ((phase.fetch_or(k_started, std::memory_order_acq_rel) & k_won) != 0) unused += take_back();
    count_down(unused);
  }

  static constexpr std::size_t k_none = ~std::size_t{0};
  enum : unsigned { k_started = 1, k_won = 2 };

  bool win(std::size_t place) noexcept {
    std::size_t nobody = k_none;
    if (!winner.compare_exchange_strong(nobody, place, std::memory_order_relaxed)) return false;
    phase.fetch_or(k_won, std::memory_order_acq_rel);
    return true;
  }
  // By start() or by the winner, whoever comes second. Gives how many counters will not run.
  std::size_t take_back() noexcept {
    std::size_t taken = 0;
    for (counter& c : counters)
      if (c.attached && detach(*c.part, c)) ++taken;
    return taken;
  }
  future_state* count_down(std::size_t n) noexcept {
    if (left.fetch_sub(n, std::memory_order_acq_rel) != n) return nullptr;  // partners: the counters, start()
    this->value.emplace(when_any_result<Sequence>{winner.load(std::memory_order_relaxed), std::move(parts.futures)});
    return finish(*this);
  }
  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<counter&>(s);
    any_state& whole = *self.whole;
    std::size_t nobody = k_none;
    const auto place = static_cast<std::size_t>(&self - whole.counters.data());
    std::size_t ended = 1;
    if (whole.winner.compare_exchange_strong(nobody, place, std::memory_order_relaxed) &&
        (whole.phase.fetch_or(k_won, std::memory_order_acq_rel) & k_started) != 0)
      ended += whole.take_back();
    return whole.count_down(ended);
  }
  static constexpr future_kind k_counter_kind{.step = step};
  static constexpr future_kind k_kind{.dispose = dispose_of<any_state>};
  static constexpr future_kind k_waiting_kind{.dispose = dispose_of<any_state>, .drop_waits = true};

  Parts parts;
  std::vector<counter> counters;
  // Partners of all three: start() and the counters, on any worker.
  std::atomic<std::size_t> winner{k_none};
  std::atomic<unsigned> phase{0};
  std::atomic<std::size_t> left{0};
};

template <class Sequence, class Parts>
future<when_any_result<Sequence>> begin_any(Parts parts) {
  using state = any_state<Parts, Sequence>;
  auto* const made = make_state<state>(std::move(parts));
  future<when_any_result<Sequence>> result = future_access::make<when_any_result<Sequence>>(made);
  made->start();
  return result;
}

}  // namespace detail

}  // namespace shoal
