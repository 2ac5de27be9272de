// SPDX-License-Identifier: Apache-2.0
// Exclusions between tasks: of those that claim the same one, at most one runs. A task claims all its exclusions before
// it begins. While one of them is held by another task it lies in that one's queue: no worker, stack or place in a
// deque waits with it.
// Who may call: claim_all() the worker that would begin the task, leave_all() the worker that has ended it. Never
// switches tasks, never allocates. Guarantees: first come, first served. A task keeps those that it has while it waits
// for the next one; all claim in the order of addresses, so none waits in a cycle. A task sees the effects of all
// earlier holders. Costs: a claim and a leave of a free exclusion are one compare-and-exchange each.
// Tests: tests/model/exclusion_test.cpp, tests/stress/branching_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "shoal/detail/atomics.hpp"
#include "shoal/priority.hpp"

namespace shoal::sched {

template <class Claim, class Atomics = lockfree::std_atomics>
class basic_exclusion {
public:
  /// True: `c` has it. False: `c` is queued, and may run on another worker from now on.
  bool enter(Claim& c) {
    std::uintptr_t word = newest_.load(std::memory_order_relaxed);
    for (;;) {
      if (word == k_free) {
        // Partner: the release of leave().
        if (newest_.compare_exchange_weak(word, k_held, std::memory_order_acquire, std::memory_order_relaxed))
          return true;
      } else {
        c.queued_before.write(word == k_held ? nullptr : reinterpret_cast<Claim*>(word));
        // Partner: the exchange of leave().
        if (newest_.compare_exchange_weak(word, reinterpret_cast<std::uintptr_t>(&c), std::memory_order_release,
                                          std::memory_order_relaxed))
          return false;
      }
    }
  }

  /// The holder: gives it to the claim that came first, which is returned; nullptr if there is none.
  Claim* leave() {
    Claim* first = oldest_.read();
    if (first == nullptr) {
      std::uintptr_t word = k_held;
      // Partner: the acquire of enter().
      if (newest_.compare_exchange_strong(word, k_free, std::memory_order_release, std::memory_order_relaxed))
        return nullptr;
      // Turned around: each names the one that came after it.
      auto* c = reinterpret_cast<Claim*>(newest_.exchange(k_held, std::memory_order_acquire));  // partner: enter()
      while (c != nullptr) {
        Claim* const before = c->queued_before.read();
        c->queued_before.write(first);
        first = c;
        c = before;
      }
    }
    oldest_.write(first->queued_before.read());
    return first;
  }

private:
  static constexpr std::uintptr_t k_free = 0;
  static constexpr std::uintptr_t k_held = 1;  // and nobody has come since leave() took the queue

  typename Atomics::template atomic<std::uintptr_t> newest_{k_free};  // partners: all that claim
  typename Atomics::template plain<Claim*> oldest_{nullptr};          // the holder's: queued, the first one to come
};

/// The exclusions that one task needs.
template <class Atomics = lockfree::std_atomics>
struct basic_claim {
  using exclusion = basic_exclusion<basic_claim, Atomics>;

  /// Before the task may begin: adds one, once.
  void want(exclusion& e) {
    const auto at = std::lower_bound(wanted.begin(), wanted.end(), &e, std::less<>());
    if (at == wanted.end() || *at != &e) wanted.insert(at, &e);
  }

  /// True: the task has all. False: the holder of the next one goes on with the claim when it leaves.
  bool claim_all() {
    while (held < wanted.size()) {
      if (!wanted[held]->enter(*this)) return false;
      ++held;
    }
    return true;
  }

  /// The task has ended: calls begin(claim) for each that has all of its own now.
  template <class F>
  void leave_all(F&& begin) {
    for (std::size_t i = 0; i < held; ++i)
      if (basic_claim* const next = wanted[i]->leave(); next != nullptr) {
        ++next->held;
        if (next->claim_all()) begin(*next);
      }
    held = 0;
  }

  /// Tasks below normal priority claim when it is their turn to begin, so that they keep nothing from others before.
  /// From then on they are as urgent as those that may want the same.
  bool claims_late(priority rank) const noexcept { return rank > priority::normal && !wanted.empty(); }
  priority rank_once_claimed(priority rank) const noexcept { return claims_late(rank) ? priority::normal : rank; }

  std::vector<exclusion*> wanted;  // in the order of their addresses
  std::size_t held = 0;            // the first of these
  typename Atomics::template plain<basic_claim*> queued_before{nullptr};
};

using claim = basic_claim<>;
using exclusion = claim::exclusion;

}  // namespace shoal::sched
