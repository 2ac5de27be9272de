// SPDX-License-Identifier: Apache-2.0
// Workers for the tasks of any C++ program, without a cluster:
//   shoal::pool pool;                                // one worker per processor that this process may use
//   const auto sum = pool.run([] { return work(); });
// Who may call: any thread that is no worker; submit() from tasks, too. run() blocks its thread; inside, task_group,
// parallel_for, futures and the like do the rest. Several threads may run() at once, and several pools may live at
// once. Guarantees: each worker is a thread of the pool, asleep while there is nothing to do. The destructor waits for
// what was submitted. Workers are not pinned unless asked, since other threads of the program want processors, too.
// Settings: code (options) > SHOAL_NAME > shoal.toml > default, as for shoal::run; those of networks and arrays do not
// matter here. In a child made by fork() a pool of the parent throws shoal::error and ends at once. Global arrays and
// loops over nodes are not for pools. Shown by tests/unit/runtime/pool_test.cpp.
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
  /// 0: what the setting `workers` says, or one per processor that this process may use.
  unsigned workers = 0;
  /// Settings by name, as in `shoal info`: {"steal", "nearest"}, {"pin", "on"}.
  std::vector<std::pair<std::string, std::string>> settings = {};
};

class pool {
public:
  /// Starts the workers. Throws shoal::error for wrong settings, where the system refuses threads or memory, and in
  /// tasks: pools do not nest.
  explicit pool(const pool_options& options = {});
  explicit pool(unsigned workers) : pool(pool_options{.workers = workers}) {}
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  /// shutdown(), then the workers end. Not from a task of the pool.
  ~pool();

  unsigned workers() const noexcept;

  /// Runs `f` as a task and waits for it: gives its result or throws what it threw. Blocks the calling thread, which
  /// may be no worker: from a task use a task_group.
  template <class F>
  requires std::invocable<F&>
  auto run(F&& f) -> std::invoke_result_t<F&> {
    check_outside();
    return submit([&f]() -> std::invoke_result_t<F&> { return f(); }).get();
  }

  /// Begins `f` as a task and returns at once. Any thread; tasks should rather use shoal::async, since get() of this
  /// future blocks the thread. Throws shoal::error once shutdown() has begun.
  template <class F>
  requires std::invocable < std::decay_t<F>
  & > auto submit(F&& f) -> std::future<std::invoke_result_t<std::decay_t<F>&>> {
    auto [made, future] = detail::make_submission(std::forward<F>(f));
    begin(std::move(made));
    return std::move(future);
  }

  /// A profile of these workers from now on (see profile.hpp): end it before the pool goes. Any thread.
  profile_span begin_profile(const profile_options& options = {});

  /// Refuses what is submitted from now on and waits for what was submitted before. Not from a task. Any number of
  /// times.
  void shutdown();

private:
  struct state;

  void begin(std::unique_ptr<detail::submission> s);
  static void check_outside() noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace shoal
