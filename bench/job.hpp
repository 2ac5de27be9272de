// SPDX-License-Identifier: Apache-2.0
// How a command runs as a job: -n, -w, --transport, --direct, --steal, --profile, and the processes that they ask for.
// The command starts itself again as many times as there are nodes, as `shoal run` would; under a launcher the nodes
// come from it. Who may call: the command's main thread. Shown by tests/cluster/launch_test.cpp.
#pragma once

#include <functional>
#include <string>

#include "bench/profiling.hpp"

namespace CLI {
class App;
}

namespace shoal::bench {

struct job_options {
  unsigned nodes = 0;              // 0: not given, one
  unsigned workers = 0;            // 0: chosen
  std::string transport = "auto";  // auto, shm, ucx, mpi, inproc
  std::string direct = "on";
  std::string steal;  // empty: not given
  profile_choice profile;
};

void add_job_options(CLI::App& app, job_options& options);

/// Runs `main_task` as the main task of the job; its status, or the first failing process's. Throws what the job
/// throws.
int run_as_job(const job_options& options, const std::function<int()>& main_task);

}  // namespace shoal::bench
