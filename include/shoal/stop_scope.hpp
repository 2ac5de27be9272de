// SPDX-License-Identifier: Apache-2.0
// A request to stop, for a task and everything that it begins, at any depth and on any node.
//   shoal::stop_scope search;                        // or search(std::chrono::seconds(2)): a time limit
//   search.run([&] { look(root); });                 // look() asks shoal::stop_requested() from time to time
//   shoal::task_group group(search);                 // its tasks do not begin any more once a stop is requested;
//   shoal::task_group below(shoal::in_scope);        // the same for the scope of the task that makes the group
//   shoal::parallel_for(n, body, shoal::in_scope);   // begins no further chunk; or search.get_token()
//   shoal::task_flow flow(search);  graph.run(search);  // begins no further task
// Who may call: the constructors, the destructor and run() tasks; request_stop(), stop_requested() and get_token() anybody.
// Guarantees: tasks, iterations, futures, coroutines, and calls and loops on other nodes belong to the scope of the task that
// begins them, and see the request; what was not made to stop runs to its end, so libraries' own loops are whole. A scope made
// within another one stops with it. Of what runs `anywhere`, groups and loops that were made to stop belong to it, and nothing
// else. The scope must outlive what was begun in it.
// Costs: outside of scopes a comparison. Source: oneTBB's task_group_context. Tests: tests/unit/sched/stop_*_test.cpp.
#pragma once

#include <optional>
#include <stop_token>
#include <type_traits>
#include <utility>

#include "shoal/detail/scope.hpp"
#include "shoal/detail/time_limit.hpp"

namespace shoal {

class stop_scope : private detail::scope {
public:
  stop_scope() : stop_scope(std::stop_source(), detail::time_limit::never(), {}) {}
  /// Stops by itself when the time has passed.
  explicit stop_scope(detail::limit_after limit) : stop_scope(limit, {}) {}
  /// Stops with `other`, too.
  explicit stop_scope(std::stop_token other)
      : stop_scope(std::stop_source(), detail::time_limit::never(), std::move(other)) {}
  stop_scope(detail::limit_after limit, std::stop_token other)
      : stop_scope(std::stop_source(), limit, std::move(other)) {}
  stop_scope(const stop_scope&) = delete;
  stop_scope& operator=(const stop_scope&) = delete;
  ~stop_scope();

  /// True if it is the first request.
  bool request_stop() noexcept { return source_.request_stop(); }
  bool stop_requested() const noexcept { return scope::stop_requested(); }
  /// Whether the time limit has come before any other request.
  bool timed_out() const noexcept;
  /// For loops and functions outside of the scope, and for std::stop_callback. A callback must not wait.
  const std::stop_token& get_token() const noexcept { return token(); }

  /// Calls `f` in the scope, in this task, and returns its result. Does not stop it: f asks shoal::stop_requested().
  template <class F>
  decltype(auto) run(F&& f) {
    const detail::within_scope inside(this);
    return std::forward<F>(f)();
  }

private:
  friend class anywhere_group;
  friend class task_flow;
  friend class task_graph;
  friend class task_group;
  struct forward {
    std::stop_source* to;
    void operator()() const noexcept { to->request_stop(); }
  };
  struct alarm;

  stop_scope(std::stop_source source, detail::time_limit until, std::stop_token other);

  std::stop_source source_;
  std::optional<std::stop_callback<forward>> with_outer_;
  std::optional<std::stop_callback<forward>> with_other_;
  alarm* alarm_ = nullptr;  // of a scope with a time limit; belongs to the worker that it was made on
};

/// Whether a stop was requested of a scope that the calling task belongs to. False outside of tasks.
inline bool stop_requested() noexcept {
  const detail::worker_base* const w = detail::t_worker;
  return w != nullptr && w->scope != nullptr && w->scope->stop_requested();
}

}  // namespace shoal
