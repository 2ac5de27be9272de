// SPDX-License-Identifier: Apache-2.0
// The work of a launcher while its processes run: it notifies the others when one ends early, gives them some time to
// end, kills the rest, and computes the job's exit status. It passes SIGUSR1 on to nodes that have a handler for it.
// Who may call: a launcher, from the thread that started the processes. Blocks it; never switches tasks.
// Guarantees: it returns when all processes have ended; the status is that of the node that failed first, 128 plus the
// signal if the job was interrupted, k_timeout_status if it took too long, else 0. Tests: tests/cluster/faults_test.cpp,
// tests/unit/launch/hosts_launch_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "machine/process.hpp"
#include "machine/signals.hpp"

namespace shoal::launch {

inline constexpr std::int64_t k_grace_ns = 3'000'000'000;

/// A launcher's other sources of information about its nodes.
class job_view {
public:
  /// `ranks_per_node`: of an MPI program; 0: it is none.
  explicit job_view(unsigned ranks_per_node = 0) noexcept : ranks_per_node_(ranks_per_node) {}
  virtual presence at(std::uint32_t node) = 0;
  /// A process has ended, as described by `how`: notifies the others if it is the first loss.
  virtual void announce_lost(std::uint32_t node, const std::string& how) = 0;
  virtual std::optional<std::uint32_t> lost() = 0;
  virtual void interrupt(int signal) = 0;
  /// The process that is the node, if it is on this machine, else 0. `child`: the one that was started for it.
  virtual int process_of(std::uint32_t /*node*/, int child) { return child; }
  virtual std::string describe(std::uint32_t node, int pid) = 0;
  /// How a node's process ended, in words.
  virtual std::string describe_end(const machine::exit_status& how) { return machine::describe(how); }
  /// Ends what runs on other machines, whose processes here are only on the way to it. False: there is nothing such
  /// (any more).
  virtual bool end_elsewhere() { return false; }
  /// Becomes readable when a loss was detected that is not the end of a process; then why() describes it.
  virtual int descriptor() { return -1; }
  virtual std::string why() { return {}; }

  /// " of ranks 4 to 7"; empty if the nodes have none.
  std::string ranks_of(std::uint32_t node) const;

protected:
  ~job_view() = default;

private:
  const unsigned ranks_per_node_;
};

struct job_end {
  int status = 0;
  bool lost_node = false;  // a node ended, or went silent, before it had done its part
};

/// `processes`: by node. `pass_signals`: they are the nodes themselves. `limit_ns`: how long the job may take; 0: any time.
job_end watch_children(std::vector<machine::child_process>& processes, job_view& job, machine::interruption& stop,
                       bool pass_signals, std::int64_t limit_ns = 0);

}  // namespace shoal::launch
