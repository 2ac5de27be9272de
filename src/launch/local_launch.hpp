// SPDX-License-Identifier: Apache-2.0
// Jobs on one machine without other software: the launcher starts a process per node and passes the shared memory as
// open descriptors (it has no name in the file system, so nothing can be left behind).
// Who may call: launch_local the command line, from its main thread; launched() a program at start.
// Guarantees: launch_local returns when all processes have ended. If one ends early, the others are notified at once,
// have `k_grace_ns` to end by themselves, and are killed then; the message names the first one. Ctrl-C reaches all.
// Tests: tests/cluster/launch_test.cpp, tests/cluster/faults_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "machine/page_choice.hpp"

namespace shoal::launch {

/// Tells a process which node it is: "node=1 nodes=2 world=3 segments=4,5", and later " taken=4711": by that process.
inline constexpr const char* k_launch_variable = "SHOAL_LAUNCH";

struct launched_node {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  int world_descriptor = -1;
  std::vector<int> segment_descriptors;  // by node
  bool taken = false;                    // this process has been, or is, that node
};

/// The launcher's information, if a launcher started this process. Not information inherited from a process that was
/// started by it to those that it started itself: they are no nodes.
std::optional<launched_node> launched();
/// To be called by the node before it joins: the place is this process's, and taken. Changes the environment.
void take_place();

struct local_job {
  unsigned nodes = 1;
  std::uint64_t segment_bytes = 0;  // address space of each node's part of the global memory; 0: chosen
  machine::page_choice pages = machine::page_choice::huge_try;  // of global memory
  std::vector<std::string> arguments;                           // the program first
  std::vector<std::string> environment;                         // added
  unsigned ranks_per_node = 0;                                  // of an MPI program, for messages; 0: it is none
  std::int64_t limit_ns = 0;                                    // how long it may take; 0: any time
};

/// Runs the job; its exit status: that of the node that failed first in time, else 0. `lost_node`: whether one was lost.
int launch_local(const local_job& job, bool* lost_node = nullptr);

/// Address space per node for global memory: what the machine has, or what a limit on address space allows.
std::uint64_t default_segment_bytes(unsigned nodes);

struct segment_plan {
  std::uint64_t bytes = 0;
  std::size_t pool_page_bytes = 0;  // of segment::create()
};
/// Of each of `nodes` on this machine. `bytes`: 0: chosen. A segment on pool pages is no larger than the pool, which the
/// nodes share: they take pages as they allocate. Throws errc::unsupported if the machine has no such pages.
segment_plan plan_segment(machine::page_choice pages, std::uint64_t bytes, unsigned nodes);
/// As large as SHOAL_SEGMENT may be: commands have 44 bits for an offset.
inline constexpr std::uint64_t k_most_segment_bytes = std::uint64_t{8} << 40;
/// Address space for what the nodes share besides: sparse, so generous.
inline constexpr std::uint64_t k_world_bytes = std::uint64_t{64} << 30;

}  // namespace shoal::launch
