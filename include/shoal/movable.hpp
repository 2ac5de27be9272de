// SPDX-License-Identifier: Apache-2.0
// Tasks and iterations that may continue on another worker after a wait: idle workers take them when they are runnable
// again.
//   shoal::task_group g;  g.run(shoal::movable, [&] { ready.wait(); compute(); });  g.wait();
//   auto f = shoal::async(shoal::movable, [&] { ready.wait(); return compute(); });
//   shoal::parallel_for(n, [&](int i) { ready[i].wait(); compute(i); }, shoal::movable);
// Who may use it: whoever writes a body that keeps no state of its thread over a wait: no reference to a thread_local
// variable, no errno, no std::mutex, no handle of a library that is bound to a thread, no result of worker_id().
// Guarantees: the task may continue elsewhere after a wait for its own group, for a future, or in mutex, condition_variable,
// semaphore and latch, while no asynchronous operation of its own is outstanding. It stays at all other waits (accesses
// and calls to other nodes, loops, yield, locks of task_lock.hpp), after a wait in an iteration of a loop that it runs,
// inside no_wait, and while continuations (then) run on its stack. Children and loops that it begins move only if they are
// movable themselves. On processors other than x86-64 it stays: compilers there keep the thread's address over calls.
// Costs: a stack and two switches for each task or iteration, and two switches more for each wait; the waiter runs no such
// task inline.
// Tests: tests/unit/sched/movable_test.cpp, movable_loop_test.cpp, tests/stress/movable_test.cpp.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "shoal/detail/worker.hpp"

namespace shoal {

/// Declares that a body may continue on another worker.
struct movable_t {};
inline constexpr movable_t movable{};

namespace detail {

/// On a loop's stack: runs `t`, which then calls `body` on a stack of its own.
void begin_movable(task& t, task::function body) noexcept;
/// Waits for the asynchronous operations of the calling task. `issued_before`: where the task is not movable after all.
void settle_movable(std::uint64_t issued_before) noexcept;

/// A body that waits at its end for what it began on the worker that it is on then.
template <class F>
struct movable_body {
  F body;
  decltype(auto) operator()() {
    struct settles {
      std::uint64_t issued = issued_count();
      ~settles() { settle_movable(issued); }
    } const at_the_end;
    return body();
  }
};

template <class F>
inline constexpr bool k_is_movable = false;
template <class F>
inline constexpr bool k_is_movable<movable_body<F>> = true;

}  // namespace detail
}  // namespace shoal
