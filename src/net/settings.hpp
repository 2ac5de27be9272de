// SPDX-License-Identifier: Apache-2.0
// The settings of this folder and of its plugins, and the options that are read from them.
// Who may call: one thread, at start. Shown by tests/unit/net/settings_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/settings.hpp"
#include "net/message_transport.hpp"
#include "net/routes/plan.hpp"
#include "net/transports/sim/settings.hpp"

namespace shoal::net {

/// This folder's table, then one per plugin.
extern const std::array<base::setting_table, 4> k_net_settings;

struct options {
  std::string transport = "auto";  // or inproc, shm, ucx, mpi, sim
  std::string plugins;             // a folder to look for plugins in first
  std::size_t buffer_bytes = 0;
  std::size_t buffers = 0;  // per channel; a power of two
  route_wish routes;
  unsigned domains = 0;  // per node; 0: one for each worker
  std::string domain_lock;
  wait_kind domain_wait = wait_kind::adaptive;
  message_route messages = message_route::own;
  std::uint32_t poll_mask = 0;
  progress_role progress = progress_role::workers;
  bool network_memory = false;
  bool shared_context = false;
  bool tcp_transfers = false;
  bool own_communicators = false;
  sim_options sim;
};
/// Throws shoal::error for an unknown lock and for a poll_mask that is no power of two less 1.
options read_options(const base::settings& s);

/// The channels of a node with `workers` workers. Throws shoal::error if there are more domains than workers.
message_shape make_message_shape(const options& o, std::uint32_t node, std::uint32_t nodes, unsigned workers,
                                 machine::executor& executor);

}  // namespace shoal::net
