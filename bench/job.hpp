// SPDX-License-Identifier: Apache-2.0
// Runs a command as a job: the options -n, -w, --transport, --direct, --steal, --pages, --stack-pages, --profile, and the processes of the job.
// The command starts itself once per node, as `shoal run` does; under a launcher, the launcher defines the nodes.
// Who may call: the command's main thread. Test: tests/cluster/launch_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/profiling.hpp"

namespace CLI {
class App;
}
namespace shoal::base {
class settings;
}

namespace shoal::bench {

struct job_options {
  unsigned nodes = 0;              // 0: not given, one node
  unsigned workers = 0;            // 0: the default
  std::string transport = "auto";  // auto, shm, ucx, mpi, inproc
  std::string direct = "on";
  std::string steal;  // empty: not given
  std::string pages;  // of global memory; empty: not given
  std::string stack_pages;
  // For the stacks of waiting iterations of each worker, where no setting says so; 0: the setting's default.
  std::uint64_t waiting_bytes = 0;
  unsigned load = 0;  // threads that compute beside the job (busy_loops.hpp); not under a launcher
  profile_choice profile;
};

void add_job_options(CLI::App& app, job_options& options);

/// --pages and --stack-pages; a text that stays empty is not given.
void add_page_options(CLI::App& app, std::string& pages, std::string& stack_pages);
/// Sets what has been given.
void apply_pages(base::settings& s, const std::string& pages, const std::string& stack_pages);

/// What all nodes of the job take besides their data, at most: stacks (if `waiting_bytes` or the setting bounds them),
/// the runtime's memory, and that of a network library.
std::uint64_t runtime_bytes(const job_options& options);

/// Runs `main_task` as the main task of the job. Returns its status, or that of the first process that failed. Throws
/// the exceptions of the job.
int run_as_job(const job_options& options, const std::function<int()>& main_task);

}  // namespace shoal::bench
