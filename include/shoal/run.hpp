// SPDX-License-Identifier: Apache-2.0
// Starts and stops the runtime. One main task runs on node 0; the other nodes serve it until it ends.
//   int main(int argc, char** argv) { return shoal::run(argc, argv, [] { ... }); }
// Who may call: main(). It blocks its thread, which becomes worker 0 of its node.
// Under `shoal run` (or another launcher) each process is one node, and a second call fails. Without a launcher, the
// program is one node with all cores, and may call run() again after it has returned. A program that a node starts runs
// without the launcher.
// Guarantees: returns the main task's exit status (0 for void) on node 0 and 0 on the others; returns 1 after a message
// if an exception left the main task or the job could not start. A status that is not within 0..255 becomes 1, since
// the system keeps eight bits of it. Releases all resources.
// Settings: code (options) > command line (--shoal-NAME=VALUE, taken out of argv) > SHOAL_NAME > shoal.toml > default.
// Shown by tests/cluster/, tests/unit/runtime/.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace shoal {

struct run_options {
  /// Settings by name, as in `shoal info`: {"workers", "2"}.
  std::vector<std::pair<std::string, std::string>> settings;
};

namespace detail {
int run(int* argc, char** argv, const run_options& options, const std::function<int()>& main_task);
}

/// Runs `main_task` as the main task of a job.
template <class F>
requires std::invocable<F&>
int run(int& argc, char** argv, F&& main_task, const run_options& options = {}) {
  return detail::run(&argc, argv, options, [&main_task]() -> int {
    if constexpr (std::is_convertible_v<std::invoke_result_t<F&>, int>)
      return static_cast<int>(main_task());
    else
      return main_task(), 0;
  });
}

template <class F>
requires std::invocable<F&>
int run(F&& main_task, const run_options& options = {}) {
  int argc = 0;
  return run(argc, nullptr, std::forward<F>(main_task), options);
}

}  // namespace shoal
