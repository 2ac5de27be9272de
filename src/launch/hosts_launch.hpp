// SPDX-License-Identifier: Apache-2.0
// Jobs whose nodes share no memory: on several machines through a remote shell, or on this one. The launcher runs the
// hub (control.hpp), starts a process per node, and watches both.
// Who may call: the command line, from its main thread. Blocks it.
// Guarantees: it returns when all processes have ended. If one ends early, the others are notified at once, have
// k_grace_ns to end by themselves, and are killed then, also on other machines. The job's secret is in no command line,
// and only in the environments of the nodes and their children. Tests: tests/unit/launch/hosts_launch_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::launch {

struct hosts_job {
  unsigned nodes = 0;                // 0: one on each host
  std::vector<std::string> hosts;    // neighbours in number are neighbours on a host; empty: all on this machine
  std::string remote_shell = "ssh";  // words; the host and a command follow
  std::string listen;                // the hub's address; empty: default_hub_address()
  std::int64_t silence_ns = 30'000'000'000;
  std::int64_t start_ns = 30'000'000'000;
  std::vector<std::string> arguments;    // the program first
  std::vector<std::string> environment;  // added
  unsigned ranks_per_node = 0;           // of an MPI program, for messages; 0: it is none
  std::int64_t limit_ns = 0;             // how long it may take; 0: any time
};

/// Runs the job; its exit status: that of the node that failed first in time, else 0. `lost_node`: whether one was lost.
int launch_hosts(const hosts_job& job, bool* lost_node = nullptr);

/// "a,b:2" -> a, b, b; or a file with a host in each line ("b:2" or "b slots=2"). Throws shoal::error for a name that
/// could not be one.
std::vector<std::string> parse_hosts(const std::string& list);

}  // namespace shoal::launch
