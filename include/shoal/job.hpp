// SPDX-License-Identifier: Apache-2.0
// A job as an object, for programs and plugins that have a main() of their own, and for many main tasks in one job:
//   shoal::job job({.settings = {{"workers", "4"}}});
//   const int sum = job.run([] { return work(); });    // any thread, any number of times
//   job.end();
// Who may call: any thread that is no worker; submit() also tasks. The constructor, run() and end() block their thread.
// Under a launcher each process makes one job, once. Main tasks run on node 0. The processes of other nodes call end()
// or destroy the job: this call serves node 0, and returns when node 0 has ended the job.
// Guarantees: the workers are threads of the job, parked while there is no work. Exceptions of a main task reach the
// caller of run(); the constructor throws errors of the start. Arrays stay from one main task to the next. If a node is
// lost, the other nodes end their processes (docs/running.md).
// shoal::run (run.hpp) is a job of one main task that uses the calling thread as worker 0.
// Shown by tests/unit/runtime/job_test.cpp, tests/cluster/launch_test.cpp, tests/install/.
#pragma once

#include <concepts>
#include <cstdint>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

#include "shoal/detail/submission.hpp"
#include "shoal/run.hpp"

namespace shoal {

class job {
public:
  /// Starts the nodes of this process and waits for those of other processes. Throws shoal::error for wrong settings,
  /// if the system refuses memory or threads, if nodes are incompatible, and if a task calls it.
  explicit job(const run_options& options = {});
  /// The same; takes --shoal-NAME=VALUE out of the command line.
  job(int& argc, char** argv, const run_options& options = {});
  job(const job&) = delete;
  job& operator=(const job&) = delete;
  /// end(); an error is logged. Not from a task.
  ~job();

  /// The node of this process (0 if all nodes are in this process), and the number of nodes.
  std::uint32_t node() const noexcept;
  std::uint32_t nodes() const noexcept;

  /// Runs `f` as a main task and waits for it: returns its result or throws what it threw. Several threads may call
  /// run() at once. Only on node 0; elsewhere throws errc::unsupported. Throws errc::stopped after end().
  template <class F>
  requires std::invocable<F&>
  auto run(F&& f) -> std::invoke_result_t<F&> {
    check_outside();
    return submit([&f]() -> std::invoke_result_t<F&> { return f(); }).get();
  }

  /// Begins `f` as a main task and returns at once. Errors as run(). get() of the future blocks its thread.
  template <class F>
  requires std::invocable < std::decay_t<F>
  & > auto submit(F&& f) -> std::future<std::invoke_result_t<std::decay_t<F>&>> {
    auto [made, future] = detail::make_submission(std::forward<F>(f));
    begin(std::move(made));
    return std::move(future);
  }

  /// Node 0: waits for the main tasks, then ends the job on all nodes. Other nodes: serves until node 0 ends the job.
  /// Writes the profile if one was wanted. Not from a task. Further calls do nothing. Throws shoal::error if the
  /// profile cannot be written or if other nodes were lost at the end.
  void end();

private:
  struct state;

  void start(int* argc, char** argv, const run_options& options);
  void begin(std::unique_ptr<detail::submission> s);
  static void check_outside() noexcept;

  std::unique_ptr<state> state_;
};

}  // namespace shoal
