// SPDX-License-Identifier: Apache-2.0
// The simulated machine that the nodes of a job run on (transport sim): its executor and its network, and what the
// configuration must be like there.
// Who may call: the thread that makes the job and waits for its end; it becomes the simulated machine's first thread.
// Throws shoal::error for settings that do not go together. Tests: tests/cluster/sim_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "net/transports/sim/sim_transport.hpp"
#include "runtime/config.hpp"
#include "runtime/node.hpp"

namespace shoal::runtime {

inline bool is_simulated(const config& c) { return c.transport == "sim"; }

class simulation {
public:
  /// Adapts `c`, which must outlive it.
  explicit simulation(config& c);
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;
  ~simulation();

  /// The threads that the calling one starts from now on are that node's, and it itself.
  void enter_node(std::uint32_t node) noexcept { executor_.enter_node(node); }
  std::unique_ptr<net::transport> connect(unsigned node) { return world_.connect(node); }
  /// The nodes that run on it: if nothing can run any more, the report says what their tasks wait for.
  void watch(std::vector<node*> nodes);
  /// One line about the run.
  void report() const;

private:
  class death_watch;

  const config& settings_;
  const std::vector<net::sim_fault> faults_;
  const std::uint64_t began_ns_;  // of this machine
  net::sim_executor executor_;
  net::sim_world world_;
  std::unique_ptr<death_watch> deaths_;  // if a node is to die
};

}  // namespace shoal::runtime
