// SPDX-License-Identifier: Apache-2.0
// Starts the processes of a job: by shared memory on this machine, by a network library here or on several machines, or
// by an MPI's own launcher. Who may call: the command line, from its main thread. Blocks it until the job has ended, or
// becomes the launcher.
// Shown by tests/cluster/launch_test.cpp, tests/cluster/transports_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/config.hpp"

namespace shoal::runtime {

struct start_request {
  unsigned nodes = 1;
  std::vector<std::string> hosts;  // empty: all on this machine
  std::string remote_shell = "ssh";
  std::string listen;                    // for the others' first connections; empty: chosen
  std::vector<std::string> arguments;    // the program first
  std::vector<std::string> environment;  // added
  unsigned ranks_per_node = 0;           // of an MPI program, for messages; 0: it is none
  std::int64_t limit_ns = 0;             // how long it may take; 0: any time
};

/// The exit status. `c.transport` decides: shm and auto share memory unless there are hosts; mpi takes mpirun.
/// `lost_node`: whether a node was lost.
int start_job(const config& c, const start_request& request, bool* lost_node = nullptr);

}  // namespace shoal::runtime
