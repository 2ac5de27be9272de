// SPDX-License-Identifier: Apache-2.0
// Workers for the tasks of any C++ program, without a cluster:
//   shoal::pool pool;                                // one worker per processor that this process may use
//   const auto sum = pool.run([] { return work(); });
// Who may call: any thread that is no worker; tasks may also call submit(). run() blocks its thread; its task uses
// task_group, parallel_for, futures and so on. Several threads may call run() at the same time, and a process may have
// several pools. Global arrays and loops over nodes need a job (job.hpp) instead.
// Guarantees: each worker is a thread of the pool, parked while there is no work. The destructor waits for submitted
// tasks. Workers are not pinned unless requested, since other threads of the program need processors, too. In a child
// made by fork(), the functions of the parent's pool throw shoal::error, and its destructor returns at once.
// Settings: code (options) > SHOAL_NAME > shoal.toml > default, as for shoal::run; settings of networks and arrays are
// ignored. Tests: tests/unit/runtime/pool_test.cpp.
#pragma once

#include <concepts>
#include <future>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/submission.hpp"
#include "shoal/profile.hpp"

namespace shoal {

struct pool_options {
  /// 0: the value of the setting `workers`, or one worker per processor that this process may use.
  unsigned workers = 0;
  /// Settings by name, as in `shoal info`: {"steal", "nearest"}, {"pin", "on"}.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

class pool {
public:
  /// Starts the workers. Throws shoal::error for wrong settings, if the system refuses threads or memory, and in tasks:
  /// pools do not nest.
  explicit pool(const pool_options& options = {});
  explicit pool(unsigned workers) : pool(pool_options{.workers = workers}) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// shutdown(), then the workers end. Not from a task of the pool.
  ~pool();

  unsigned workers() const noexcept;

  /// Runs `f` as a task and waits for it. Returns its result or throws its exception. Blocks the calling thread, which
  /// must not be a worker: in a task use a task_group.
  template <class F>
  requires std::invocable<F&>
  auto run(F&& f) -> std::invoke_result_t<F&> {
    check_outside();
    return submit([&f]() -> std::invoke_result_t<F&> { return f(); }).get();
  }

  /// Starts `f` as a task and returns at once. Any thread; in tasks prefer shoal::async, since get() of this future
  /// blocks the thread. Throws shoal::error after shutdown() has begun.
  template <class F>
  requires std::invocable < std::decay_t<F>
  & > auto submit(F&& f) -> std::future<std::invoke_result_t<std::decay_t<F>&>> {
    auto [made, future] = detail::make_submission(std::forward<F>(f));
    begin(std::move(made));
    return std::move(future);
  }

  /// Starts a profile of these workers (see profile.hpp). End it before the pool is destroyed. Any thread.
  profile_span begin_profile(const profile_options& options = {});

  /// Refuses new tasks and waits for the submitted ones. Not from a task. Further calls do nothing.
  void shutdown();

private:
  struct state;

  void begin(std::unique_ptr<detail::submission> s);
  static void check_outside() noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace shoal
