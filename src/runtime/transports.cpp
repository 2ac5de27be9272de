// SPDX-License-Identifier: Apache-2.0
#include "runtime/transports.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/counted.hpp"
#include "base/log.hpp"
#include "machine/entropy.hpp"
#include "machine/memory_info.hpp"
#include "net/plugin.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {
std::vector<std::string> transports_here(const config& c) {
  std::vector<std::string> all;
  for (const char* name : {"ucx", "mpi"}) {
    try {
      find_plugin(c, name);
      all.emplace_back(name);
    } catch (const error& e) {
      base::verbose("transport {}: {}", name, e.what());
    }
  }
  return all;
}

namespace {

constexpr std::uint64_t k_share_for_buffers = 64;  // of a node's memory

net::job_shape job_shape_of(const config& c, std::uint32_t nodes) {
  return {nodes, c.workers, c.buffer_bytes, c.buffers, {}};
}

}  // namespace

void choose_routes(config& c, std::uint32_t nodes, std::uint64_t memory_bytes_of_node,
                   std::vector<std::uint32_t> machines) {
  net::route_wish wish = c.routes;
  wish.must_fit = wish.memory_bytes != 0;
  if (!wish.must_fit)
    wish.memory_bytes = std::min(memory_bytes_of_node / k_share_for_buffers, net::route_wish::k_most_default_bytes);
  // A thread that moves messages has no routes.
  if (c.progress == net::progress_role::server && wish.route == "auto") wish.route = "direct";
  net::job_shape shape = job_shape_of(c, nodes);
  shape.machines = std::move(machines);
  c.plan = net::plan_routes(wish, shape);
  if (!c.plan.is_routed()) return;
  if (c.progress == net::progress_role::server)
    throw error(errc::unsupported,
                fmt::format("SHOAL_PROGRESS=server moves the messages of route direct only, and the route is {}; set "
                            "SHOAL_ROUTE=direct, or leave SHOAL_PROGRESS out",
                            c.plan.name));
  base::verbose("route {}: {}, blocks of {}, at most {} of buffers in a node", c.plan.name,
                base::counted(c.plan.map->hops(), "hop"), machine::describe_bytes(c.plan.block_bytes),
                machine::describe_bytes(c.plan.bytes));
}

std::unique_ptr<net::transport> with_routes(const config& c, std::uint32_t node, std::uint32_t nodes,
                                            std::unique_ptr<net::transport> inner) {
  if (!c.plan.is_routed()) return inner;
  return net::route_over(std::move(inner), c.plan, node, job_shape_of(c, nodes), *c.executor);
}

net::ring_shape ring_shape_of(const config& c, std::uint32_t nodes) {
  net::ring_shape s{nodes, c.workers, c.buffer_bytes, c.buffers, c.executor};
  s.announces_replies = c.plan.is_routed();
  return s;
}

const net::net_plugin& find_plugin(const config& c, const std::string& name) {
  return net::load_plugin(name, net::plugin_folders(c.plugins));
}

std::uint64_t new_token() {
  std::uint64_t token = 0;
  machine::fill_random(std::as_writable_bytes(std::span(&token, 1)));
  return token;
}

namespace {

// Libraries say no more than that memory or resources are missing.
std::unique_ptr<net::network> open_library(const net::net_plugin& plugin, const net::network_request& request) {
  try {
    return plugin.open(request);
  } catch (const error& e) {
    const std::string scarce = machine::describe_scarce_shared_memory();
    if (scarce.empty()) throw;
    throw error(e.code(), fmt::format("{}; {}", e.what(), scarce));
  }
}

}  // namespace

std::unique_ptr<net::network> open_network(const config& c, std::uint32_t node, std::uint32_t nodes,
                                           machine::segment& segment, const network_place& place) {
  const net::message_shape shape = net::make_message_shape(c, node, nodes, c.workers, *c.executor);
  net::network_request request;
  request.node = node;
  request.nodes = nodes;
  request.domains = shape.domains;
  request.lanes =
      shape.route == net::message_route::domain_0 ? shape.workers : (shape.workers + shape.domains - 1) / shape.domains;
  request.most_words = shape.most_words();
  request.messages = shape.slots;
  request.segment = segment.data();
  request.segment_bytes = segment.capacity();
  request.shared_context = c.shared_context;
  request.tcp_transfers = c.tcp_transfers;
  request.own_communicators = c.own_communicators;
  request.allocate = c.network_memory;
  request.one_machine = place.one_machine;
  request.token = place.token;
  if (c.network_memory && (c.direct || c.transport != "ucx"))
    throw error(
        errc::invalid_argument,
        "SHOAL_NETWORK_MEMORY=on needs SHOAL_TRANSPORT=ucx and SHOAL_DIRECT=off: only UCX allocates, and what it "
        "has allocated the nodes of a machine do not map");
  const std::uint64_t free = c.network_memory ? machine::memory_info().usable_bytes() : 0;
  if (c.network_memory && segment.capacity() > free / (2 * nodes))
    throw error(
        errc::out_of_memory,
        fmt::format("SHOAL_NETWORK_MEMORY=on takes all of SHOAL_SEGMENT at once, and {} for each of {} is "
                    "more than half of the {} that are free; set SHOAL_SEGMENT to what the arrays need, as 256M",
                    machine::describe_bytes(segment.capacity()), base::counted(nodes, "node"),
                    machine::describe_bytes(free)));
  auto opened = open_library(find_plugin(c, c.transport), request);
  if (c.network_memory) segment.yield_mapping();
  return opened;
}

std::unique_ptr<net::transport> over_network(const config& c, std::uint32_t node, std::uint32_t nodes,
                                             std::unique_ptr<net::network> network,
                                             net::message_transport::loss_handler lost) {
  net::message_shape shape = net::make_message_shape(c, node, nodes, c.workers, *c.executor);
  shape.announces_replies = c.plan.is_routed();
  return std::make_unique<net::message_transport>(find_plugin(c, c.transport).name, std::move(network), shape,
                                                  std::move(lost));
}

}  // namespace shoal::runtime
