// SPDX-License-Identifier: Apache-2.0
// Wait policies for locks on the simulated memory: an abstract one (another thread continues), and ones that block on a
// futex. The heavy fence of a sleeper makes every other thread execute a fence between two of its instructions; in the
// model it is a sequentially consistent fence on both sides.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "model/explorer/explorer.hpp"
#include "shoal/detail/leaving_wait.hpp"

namespace shoal::model {

// `Awake` rounds before it blocks; a mutant omits one of the fences, or the wake.
enum class wait_mutant { none, sleeper_without_fence, ringer_without_fence, no_wake };

template <bool Sleeps, unsigned Awake = 0, wait_mutant Mutant = wait_mutant::none>
struct model_wait {
  static constexpr bool k_sleeps = Sleeps;

  static bool pass(unsigned round) {
    if (Sleeps && round >= Awake) return false;
    execution::current().give_way();
    return true;
  }
  static void back_off(unsigned) {}
  static void moment(unsigned) { execution::current().give_way(); }
  static void give_way(unsigned) { execution::current().give_way(); }
  static std::size_t place() { return 0; }

  static std::size_t address(const model_atomic<std::uint32_t>& word) { return word.number(); }
  static void sleep(model_atomic<std::uint32_t>& word, std::uint32_t expected) { word.futex_wait(expected); }
  static void wake(std::size_t word, int count) {
    if (Mutant == wait_mutant::no_wake) return;
    if (count == 1)
      execution::current().futex_wake_one(word, source_place::current());
    else
      execution::current().futex_wake_all(word, source_place::current());
  }
  static void fence_all() {
    if (Mutant != wait_mutant::sleeper_without_fence) model_atomics::fence(std::memory_order_seq_cst);
  }
  static void fence() {
    if (Mutant != wait_mutant::ringer_without_fence) model_atomics::fence(std::memory_order_seq_cst);
  }
};

// Waiters that suspend, as tasks do, until they are woken, once.
struct model_task {
  model_atomic<std::uint32_t> woken{0};
  model_plain<int> waits{0};  // written before the wait; the waker must see it
};
template <wait_mutant Mutant>
struct model_leaving_wait {
  using task = model_task*;
  static inline std::vector<std::unique_ptr<model_task>> tasks;  // indexed by thread; recreated for each execution
  static void set_up() {
    tasks.clear();
    for (std::size_t i = 0; i < k_max_threads; ++i) tasks.push_back(std::make_unique<model_task>());
  }

  static task mine() { return tasks[execution::current().thread_number()].get(); }
  static task self() {
    mine()->waits.write(1);
    return mine();
  }
  static void leave(const void* /*lock*/) {
    auto& woken = mine()->woken;
    while (woken.load(std::memory_order_acquire) == 0) woken.futex_wait(0);
    woken.store(0, std::memory_order_relaxed);
  }
  static void wake(task t) {
    if (Mutant == wait_mutant::no_wake) return;
    check(t->waits.read() == 1, "who waits is known");
    check(t->woken.exchange(1, std::memory_order_acq_rel) == 0, "woken once for each wait");
    t->woken.futex_wake_one();
  }
  static void back_off(unsigned) {}
  static void moment(unsigned) { execution::current().give_way(); }
  static void give_way(unsigned) { execution::current().give_way(); }
  static std::size_t place() { return 0; }
};
using task_model_wait = model_leaving_wait<wait_mutant::none>;

template <class Wait>
void set_up_waiting() {
  if constexpr (requires { Wait::set_up(); }) Wait::set_up();
}

using abstract_wait = model_wait<false>;
using parking_wait = model_wait<true, 0>;
using adaptive_model_wait = model_wait<true, 1>;

// Each of `threads` threads acquires the lock `rounds` times with `lock(the lock, thread)`, and writes non-atomic data.
template <class Lock, class Wait = abstract_wait>
scenario guarded(int threads, int rounds, std::function<std::unique_ptr<Lock>()> make,
                 std::function<bool(Lock&, int)> lock) {
  return [=](execution& run) {
    struct table {
      std::unique_ptr<Lock> lock;
      model_plain<int> count{0};
      int inside = 0;  // bookkeeping of the test, not shared memory
      int entered = 0;
    };
    set_up_waiting<Wait>();
    auto t = std::make_shared<table>();
    t->lock = make();
    for (int i = 0; i < threads; ++i)
      run.thread("thread", [=] {
        for (int r = 0; r < rounds; ++r) {
          if (!lock(*t->lock, i)) continue;
          check(t->inside++ == 0, "one at a time");
          ++t->entered;
          t->count.write(t->count.read() + 1);
          --t->inside;
          t->lock->unlock();
        }
      });
    run.finally([=] {
      check(t->count.read() == t->entered, "nothing is lost");
      check(t->lock->try_lock(), "free at the end");
    });
  };
}

template <class Lock>
std::unique_ptr<Lock> plainly() {
  return std::make_unique<Lock>();
}
template <class Lock>
bool by_lock(Lock& lock, int) {
  lock.lock();
  return true;
}
// The first thread only calls try_lock().
template <class Lock>
bool first_tries(Lock& lock, int thread) {
  if (thread == 0) return lock.try_lock();
  lock.lock();
  return true;
}

}  // namespace shoal::model
