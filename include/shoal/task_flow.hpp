// SPDX-License-Identifier: Apache-2.0
// Tasks that declare which data they read and write. Conflicting tasks run in program order, other tasks in any order;
// readers of the same bytes run in parallel; tasks with commutative access one at a time, in any order.
//   shoal::task_flow flow;  flow.run(in(a), out(b), [&] { b = f(a); });  ...  flow.wait();
//   flow.run(shoal::priority::high, in(b), commutative(sum), [&] { sum += g(b); });
// Who may call: the task that added the first unfinished task, but no task of the flow; these may have their own flows.
// The waits switch tasks; run() may, to let others run or if too many tasks are unfinished. Guarantees: a task
// starts when all earlier tasks that write what it names, or name what it writes, have ended, and sees their effects.
// When `most_unfinished` tasks are unfinished, run() waits until half of them have ended. After an exception, or a request
// to stop that the flow was made for, tasks that have not begun are dropped; wait() rethrows the first exception, then the
// flow can be used again. Of the tasks that become ready at the end of a task, the same worker runs one directly.
// Costs: a table look-up per region, one or two atomic operations per dependence; bodies up to 40 bytes do not allocate.
// Shown by tests/unit/sched/{task_flow,commutative,timed_wait,stop_order}_test.cpp, tests/stress/dependences_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/priority.hpp"
#include "shoal/region.hpp"
#include "shoal/task.hpp"

namespace shoal {

class stop_scope;

namespace detail {

struct flow_state;

/// The part of a flow's task that depends on the type of the body.
struct flow_body {
  static constexpr std::size_t k_inline_bytes = 40;
  template <class F>
  static constexpr bool fits = sizeof(F) <= k_inline_bytes && alignof(F) <= alignof(void*);

  void (*act)(flow_body& self, bool call);  // destroys the body; calls it before if `call`
  alignas(void*) std::byte place[k_inline_bytes];
};

template <class... Arguments>
inline constexpr bool accesses_then_body = false;
template <task_body Body>
inline constexpr bool accesses_then_body<Body> = true;
template <class First, class... Rest>
requires(sizeof...(Rest) > 0) inline constexpr bool accesses_then_body<First, Rest...> =
    std::is_same_v<std::remove_cvref_t<First>, shoal::access> && accesses_then_body<Rest...>;

}  // namespace detail

class task_flow {
public:
  static constexpr std::size_t k_most_unfinished = std::size_t{1} << 16;

  explicit task_flow(std::size_t most_unfinished = k_most_unfinished);
  /// Once a stop is requested of `s`, tasks that have not begun are dropped, and wait() returns when the others have ended.
  /// All belong to `s`, which outlives the flow (see stop_scope.hpp). Other flows' tasks belong to the scope of the task that
  /// gives the first unfinished one, and run in any case.
  explicit task_flow(const stop_scope& s, std::size_t most_unfinished = k_most_unfinished);
  /// The same with the scope of the calling task.
  explicit task_flow(in_scope_t, std::size_t most_unfinished = k_most_unfinished);
  task_flow(const task_flow&) = delete;
  task_flow& operator=(const task_flow&) = delete;
  /// Waits. Logs an exception that no wait() has thrown.
  ~task_flow();

  /// Accesses, made by in(), out(), inout() and commutative(), then the body: run(in(x), inout(y), [&] { ... }).
  template <class... Arguments>
  requires(detail::accesses_then_body<Arguments...>) void run(Arguments&&... arguments) {
    run(priority::normal, std::forward<Arguments>(arguments)...);
  }
  /// The same with a priority first (see priority.hpp): among tasks that can begin, higher ones begin first.
  template <class... Arguments>
  requires(detail::accesses_then_body<Arguments...>) void run(priority p, Arguments&&... arguments) {
    constexpr std::size_t k_accesses = sizeof...(Arguments) - 1;
    auto all = std::forward_as_tuple(std::forward<Arguments>(arguments)...);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const access declared[k_accesses + 1] = {part_by_part(std::get<I>(all))..., access{}};
      give(p, declared, k_accesses, std::get<k_accesses>(std::move(all)));
    }
    (std::make_index_sequence<k_accesses>());
  }

  /// The same with a number of accesses that is known at run time.
  template <detail::task_body F>
  void run(std::span<const access> declared, F&& body) {
    give(priority::normal, declared.data(), declared.size(), std::forward<F>(body));
  }
  template <detail::task_body F>
  void run(priority p, std::span<const access> declared, F&& body) {
    give(p, declared.data(), declared.size(), std::forward<F>(body));
  }

  /// Returns when all tasks have ended; rethrows the first exception among them. May switch.
  void wait();
  /// Whether all tasks have ended before the time has passed (see sleep.hpp): then as wait(). Otherwise they go on, and the
  /// flow can be given more tasks and be waited for again. Runs no task itself.
  bool wait_for(detail::limit_after limit) { return wait_by(limit); }
  bool wait_until(detail::limit_at limit) { return wait_by(limit); }

  /// The largest number of unfinished tasks of this flow.
  std::size_t most_unfinished() const noexcept;

private:
  // A copy with wide moves would stall on the narrow stores that have just written the original.
  static constexpr access part_by_part(const access& a) noexcept {
    return {{a.where.begin, a.where.row_bytes, a.where.rows, a.where.stride_bytes}, a.mode};
  }

  template <class F>
  void give(priority p, const access* declared, std::size_t count, F&& body) {
    using stored = std::decay_t<F>;
    detail::flow_body& made = make();
    try {
      if constexpr (detail::flow_body::fits<stored>)
        ::new (static_cast<void*>(made.place)) stored(std::forward<F>(body));
      else
        ::new (static_cast<void*>(made.place)) stored*(apart<stored>(std::forward<F>(body)));
    } catch (...) {
      unmake(made);
      throw;
    }
    made.act = act_on<stored>;
    if (p == priority::normal)
      submit(made, declared, count);
    else
      submit_ranked(made, declared, count, p);
  }

  // A body that does not fit into the task.
  template <class F, class G>
  static F* apart(G&& body) {
    void* const at = detail::allocate_for<F>(*detail::t_worker);
    try {
      return ::new (at) F(std::forward<G>(body));
    } catch (...) {
      detail::deallocate_for<F>(*detail::t_worker, at);
      throw;
    }
  }

  template <class F>
  static void act_on(detail::flow_body& self, bool call) {
    struct destroyed {
      F* body;
      ~destroyed() {
        body->~F();
        if constexpr (!detail::flow_body::fits<F>) detail::deallocate_for<F>(*detail::t_worker, body);
      }
    } mine{};
    if constexpr (detail::flow_body::fits<F>)
      mine.body = std::launder(reinterpret_cast<F*>(self.place));
    else
      mine.body = *std::launder(reinterpret_cast<F**>(self.place));
    if (call) (*mine.body)();
  }

  detail::flow_body& make();
  void unmake(detail::flow_body& made) noexcept;
  void submit(detail::flow_body& made, const access* declared, std::size_t count);
  void submit_ranked(detail::flow_body& made, const access* declared, std::size_t count, priority p);
  bool wait_by(detail::time_limit until);

  std::unique_ptr<detail::flow_state> state_;
};

}  // namespace shoal
