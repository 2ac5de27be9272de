// SPDX-License-Identifier: Apache-2.0
// Tasks that run on any node: on this one, unless another node has nothing to do and takes them. For work whose size
// nobody knows before (searches, unbalanced trees); a loop of known shape is better divided at once (everywhere).
//   shoal::future<int> left = shoal::async_anywhere(part{...});       // as shoal::async, with a result
//   shoal::anywhere_group g;  g.run(search{root});  g.wait();         // tasks that begin more, without results
//   shoal::parallel_for(shoal::anywhere, n, body);                    // shoal/parallel_for.hpp
// Who may call: tasks. wait(), get() and the destructors switch; run() and async_anywhere() do not.
// Guarantees: bodies are copied, and travel when a node takes them: trivially copyable, below 11 KiB. A task begins
// once. A wait returns when all tasks have ended, and all that these have begun, on all nodes. Exceptions arrive as
// shoal::remote_error (of this node too). Once a stop is requested of a group's scope, its tasks that have not begun do not
// run, and those that run see it: on other nodes, once the request has arrived there. An idle node asks a few nodes, some
// of them for good, and then waits: nobody polls. A task that nobody takes costs about what a local one does.
// Source: X10's global load balancing (Saraswat et al., PPoPP 2011). Shown by tests/cluster/anywhere_test.cpp.
#pragma once

#include <type_traits>
#include <utility>

#include "shoal/detail/anywhere_task.hpp"
#include "shoal/future.hpp"
#include "shoal/stop_scope.hpp"

namespace shoal {

/// Begins more tasks of the group of the task that got it. Valid until that task ends.
class anywhere_tasks {
public:
  explicit anywhere_tasks(detail::group_part& part) noexcept : part_(part) {}

  template <class F>
  void run(const F& f) {
    detail::begin_in_group(part_, f);
  }
  /// Whether a task of the group has thrown, as far as this node knows: the others may stop early.
  bool failed() const noexcept { return part_.failed.load(std::memory_order_relaxed); }

private:
  detail::group_part& part_;
};

/// Tasks on any nodes with a common wait. One task uses it; its tasks begin more through the anywhere_tasks& that their
/// bodies may take:
///   struct search {
///     node_of_tree n;
///     void operator()(shoal::anywhere_tasks& tasks) const {
///       for (const auto& child : children(n)) tasks.run(search{child});
///     }
///   };
class anywhere_group {
public:
  anywhere_group() = default;
  /// Its tasks belong to `s`, on all nodes: once a stop is requested, those that have not begun do not run
  /// (stop_scope.hpp). `s` outlives the group. On other nodes the scope ends when the node has no task of the group any more:
  /// what a task begins in it (a future, a continuation) must have ended when the task ends.
  explicit anywhere_group(const stop_scope& s) noexcept : scope_(&s) {}
  /// The same with the scope of the calling task, if it has one.
  explicit anywhere_group(in_scope_t) noexcept : scope_(detail::worker_here().scope) {}
  anywhere_group(const anywhere_group&) = delete;
  anywhere_group& operator=(const anywhere_group&) = delete;
  /// Waits for the tasks; logs a failure that no wait has thrown.
  ~anywhere_group() {
    if (part_ == nullptr) return;
    detail::wait_for_group(*part_, detail::time_limit::never());
    detail::close_group(*part_);
  }

  template <class F>
  void run(const F& f) {
    if (part_ == nullptr) part_ = &detail::open_group(scope_);
    detail::begin_in_group(*part_, f);
  }
  /// Returns when all tasks of the group have ended on all nodes; throws one of their exceptions as remote_error.
  void wait() { wait_by(detail::time_limit::never()); }

  /// Whether all tasks of the group have ended on all nodes before the time has passed (see sleep.hpp): then as wait().
  /// Otherwise they go on, and the group can be waited for again.
  bool wait_for(detail::limit_after limit) { return wait_by(limit); }
  bool wait_until(detail::limit_at limit) { return wait_by(limit); }

private:
  bool wait_by(detail::time_limit until) {
    if (part_ == nullptr) return true;
    if (!detail::wait_for_group(*part_, until)) return false;
    detail::rethrow_failure(*part_);
    return true;
  }

  const detail::scope* scope_ = nullptr;
  detail::group_part* part_ = nullptr;
};

namespace detail {

template <class F>
void call_in_group(F& f, group_part& g) {
  if constexpr (std::invocable<F&, anywhere_tasks&>) {
    anywhere_tasks more(g);
    f(more);
  } else {
    f();
  }
}

}  // namespace detail

/// Starts `f` here or on a node that has nothing to do, and returns the future of its result, as shoal::async does: a task
/// that waits for it runs it itself if nobody has taken it. A node takes such a task once; what it spawns may move on.
template <class F>
requires std::invocable<F&>
auto async_anywhere(const F& f) -> future<detail::result_there<F>> {
  using result = detail::result_there<F>;
  using state = detail::anywhere_state<result, F>;
  detail::check_capture(f);
  detail::port_here();
  auto* const made = detail::make_state<state>(f);
  detail::worker_base& w = *detail::t_worker;
  try {
    detail::spawn(w, *made);
  } catch (...) {  // no memory to enlarge the deque
    made->body_is_gone();
    made->of->dispose(*made);
    throw;
  }
  if (detail::work_is_wanted(w)) [[unlikely]]
    detail::offer_work(w);
  return detail::future_access::make<result>(made);
}

}  // namespace shoal
