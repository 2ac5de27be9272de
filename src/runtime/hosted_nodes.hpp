// SPDX-License-Identifier: Apache-2.0
// The nodes of a job that this process hosts: all of them, or one where a launcher started the processes.
// Who may call: one thread, which is no worker; each function blocks it.
// Life: a constructor sets everything up and throws shoal::error if it cannot; begin() lets the process's other nodes
// serve; the owner runs first() (node.hpp); end() leaves the job.
// Shown by tests/cluster/, tests/unit/runtime/job_test.cpp.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "runtime/config.hpp"
#include "runtime/node.hpp"

namespace shoal::runtime {

class hosted_nodes {
public:
  hosted_nodes() = default;
  hosted_nodes(const hosted_nodes&) = delete;
  hosted_nodes& operator=(const hosted_nodes&) = delete;
  virtual ~hosted_nodes() = default;

  /// Node 0 if all nodes are here, else the only one that is here.
  virtual node& first() noexcept = 0;
  /// The other nodes of this process serve from now on.
  virtual void begin() {}
  /// To be called once, when first() has ended, or has thrown `thrown`. Waits for the other nodes of this process,
  /// tells other processes that this one leaves, and writes the profiles. Rethrows `thrown` instead of writing them.
  virtual void end(const std::exception_ptr& thrown) = 0;
  /// This process ends now, and with it the job: its end is no loss to the others, which have been told. Any thread.
  virtual void abandon() noexcept {}
};

/// `c.nodes` nodes, all in this process.
std::unique_ptr<hosted_nodes> host_in_process(config c);
/// This process's node of a job on this machine that `shoal run` or the like has started.
std::unique_ptr<hosted_nodes> host_in_world(config c);
/// This process's node of a job whose processes another launcher has started (launch/rendezvous.hpp).
std::unique_ptr<hosted_nodes> host_external(config c);
/// The one of these that this process was started for.
std::unique_ptr<hosted_nodes> host_job(const config& c);

/// Runs `main_task` on node 0, on the calling thread, which becomes worker 0 there; on other nodes serves until node 0
/// has ended the job. The main task's result on node 0, else 0. Rethrows what the main task throws.
int run_here(hosted_nodes& nodes, const std::function<int()>& main_task);

}  // namespace shoal::runtime
