// SPDX-License-Identifier: Apache-2.0
// The transports over a network library (ucx, mpi), constructed from the settings of a job.
// Who may call: the thread that makes the job. Throws shoal::error if a plugin or its library is missing.
// Tests: tests/cluster/ (SHOAL_TRANSPORT=ucx, mpi).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "machine/segment.hpp"
#include "net/message_transport.hpp"
#include "runtime/config.hpp"

namespace shoal::runtime {

inline bool uses_library(const config& c) { return c.transport == "ucx" || c.transport == "mpi"; }

/// Chooses c.plan. c.workers is known. `memory_bytes_of_node`: of its machine, its share, where that is least; on all
/// nodes the same. `machines`: how many consecutive nodes each has; empty: not known.
void choose_routes(config& c, std::uint32_t nodes, std::uint64_t memory_bytes_of_node,
                   std::vector<std::uint32_t> machines);
/// The transport of a node, under the routes that were chosen.
std::unique_ptr<net::transport> with_routes(const config& c, std::uint32_t node, std::uint32_t nodes,
                                            std::unique_ptr<net::transport> inner);
net::ring_shape ring_shape_of(const config& c, std::uint32_t nodes);

/// Those that would work here, by their plugins: "ucx", "mpi".
std::vector<std::string> transports_here(const config& c);

/// Throws shoal::error that names what to install.
const net::net_plugin& find_plugin(const config& c, const std::string& name);

/// The other nodes.
struct network_place {
  bool one_machine = false;  // all nodes are on this one
  std::uint64_t token = 0;   // known to this job's nodes alone
};
/// A new random secret; throws if the system has no random numbers.
std::uint64_t new_token();

/// This node's part of the network; to be connected. `c.workers` is chosen by now.
std::unique_ptr<net::network> open_network(const config& c, std::uint32_t node, std::uint32_t nodes,
                                           machine::segment& segment, const network_place& place);
/// The network is connected.
std::unique_ptr<net::transport> over_network(const config& c, std::uint32_t node, std::uint32_t nodes,
                                             std::unique_ptr<net::network> network,
                                             net::message_transport::loss_handler lost);

}  // namespace shoal::runtime
