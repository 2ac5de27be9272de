// SPDX-License-Identifier: Apache-2.0
// wait_cell and wait_bell for waiters that do not block their thread but suspend a task: for policies that have a
// `task`, self(), leave(lock) (until woken once) and wake(task). wake() may come before leave(); the lock is for reports.
// Who may call: as wait_cell.hpp and wait_bell.hpp; wait() switches tasks.
// Guarantees: as there. An unlock executes a fence in the bell, since a fence on all threads for each wait of a task
// would cost too much. Tests: tests/unit/sched/task_lock_test.cpp, model: tests/model/lock_wait_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include "shoal/detail/wait_bell.hpp"
#include "shoal/detail/wait_cell.hpp"

namespace shoal::detail {

template <class Wait>
concept leaving_wait = requires {
  typename Wait::task;
};

template <leaving_wait Wait, class Atomics>
class wait_cell<Wait, Atomics> {
public:
  void wait(const void* lock) {
    if (granted()) return;
    std::uintptr_t seen = k_pending;
    const auto me = reinterpret_cast<std::uintptr_t>(Wait::self());
    // Release: the granter, whose exchange acquires, knows the task.
    if (!word_.compare_exchange_strong(seen, me, std::memory_order_release, std::memory_order_acquire)) return;
    Wait::leave(lock);
    word_.load(std::memory_order_acquire);  // partner: grant(); for race detectors that do not know wake()
  }
  void grant() {
    const std::uintptr_t waiter = word_.exchange(k_granted, std::memory_order_acq_rel);
    if (waiter != k_pending) Wait::wake(reinterpret_cast<typename Wait::task>(waiter));
  }
  bool granted() const { return word_.load(std::memory_order_acquire) == k_granted; }  // partner: grant()
  void reset() { word_.store(k_pending, std::memory_order_relaxed); }

private:
  static constexpr std::uintptr_t k_pending = 0;
  static constexpr std::uintptr_t k_granted = 1;
  typename Atomics::template atomic<std::uintptr_t> word_{k_pending};  // else: the task that waits
};

template <leaving_wait Wait, class Atomics>
class wait_bell<Wait, Atomics> {
public:
  template <class Ready>
  void wait(const void* lock, Ready&& ready) {
    while (!ready()) {
      waiter me{Wait::self()};
      guard();
      any_.store(1, std::memory_order_relaxed);
      Atomics::fence(std::memory_order_seq_cst);  // partner: the fence in ring()
      if (ready()) {
        if (first_.read() == nullptr) any_.store(0, std::memory_order_relaxed);
        unguard();
        return;
      }
      (first_.read() == nullptr ? first_ : last_.read()->next).write(&me);
      last_.write(&me);
      unguard();
      Wait::leave(lock);
    }
  }

  void ring_one() { ring(false); }
  void ring_all() { ring(true); }

private:
  template <class T>
  using plain = typename Atomics::template plain<T>;
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

  struct waiter {
    explicit waiter(typename Wait::task t) : task(t) {}
    typename Wait::task task;
    plain<waiter*> next{nullptr};
  };

  void ring(bool all) {
    Atomics::fence(std::memory_order_seq_cst);  // partner: the fence in wait()
    if (any_.load(std::memory_order_relaxed) != 0) [[unlikely]]
      wake(all);
  }
  [[gnu::noinline, gnu::cold]] void wake(bool all) {
    guard();
    waiter* w = first_.read();
    first_.write(w == nullptr || all ? nullptr : w->next.read());
    if (first_.read() == nullptr) any_.store(0, std::memory_order_relaxed);
    unguard();
    while (w != nullptr) {
      waiter* const next = all ? w->next.read() : nullptr;  // before its task continues and destroys the node
      Wait::wake(w->task);
      w = next;
    }
  }

  void guard() {
    for (unsigned round = 0; held_.exchange(1, std::memory_order_acquire) != 0; ++round) Wait::moment(round);
  }
  void unguard() { held_.store(0, std::memory_order_release); }

  atomic<std::uint32_t> any_{0};   // partners: waiters and ringing threads
  atomic<std::uint32_t> held_{0};  // for a few instructions each
  plain<waiter*> first_{nullptr};
  plain<waiter*> last_{nullptr};
};

}  // namespace shoal::detail
