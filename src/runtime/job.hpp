// SPDX-License-Identifier: Apache-2.0
// A job: the nodes of this process, started and stopped. Alone in the process: one node (or, for tests, several). Under
// a launcher: this process's node.
// Who may call: main(), through shoal::run; tests. Blocks its thread until the job has ended.
// Shown by tests/cluster/.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "runtime/config.hpp"
#include "shoal/run.hpp"

namespace shoal::runtime {

/// Runs `main_task` on node 0 of `c.nodes` nodes, all in this process. Returns its result or rethrows.
int run_in_process(config c, const std::function<int()>& main_task);

/// Runs a job of one main task, which the calling thread runs as worker 0 of node 0, in the processes that this one was
/// started for. Returns the main task's result on node 0, else 0.
int run_job(const config& c, const std::function<int()>& main_task);

/// The configuration from a program's code, its command line, from which it takes --shoal-NAME=VALUE, and the rest.
config read_config(int* argc, char** argv, const run_options& options);
/// Calls run() and gives the exit status of the process: 1, after a message, if it throws.
int status_of(const std::function<int()>& run) noexcept;

/// The message for an exception that ended a job or prevented its start.
std::string describe_failure(const std::exception& e);

/// Whether a launcher started this process.
bool is_launched();

}  // namespace shoal::runtime
