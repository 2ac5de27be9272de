// SPDX-License-Identifier: Apache-2.0
// Very many nodes of a job as far as its hub sees them: connections that speak the hub's protocol, all in one thread of
// this process. For tests and measurements of the hub.
// Who may call: one thread, no task; it blocks. Guarantees: every node sends and reads all that a real one would; a
// hub that refuses, ends a connection, or is silent for the time limit is an exception (shoal::error).
// Shown by tests/unit/launch/many_nodes_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "launch/frame.hpp"
#include "launch/handshake.hpp"
#include "launch/send_queue.hpp"
#include "machine/ready_set.hpp"
#include "machine/socket.hpp"

namespace shoal::bench {

class light_nodes {
public:
  /// All connect at once, prove the secret and say who they are; returns when all are welcomed.
  light_nodes(const launch::hub_place& place, std::uint32_t nodes, std::int64_t timeout_ns);
  ~light_nodes();
  light_nodes(const light_nodes&) = delete;
  light_nodes& operator=(const light_nodes&) = delete;

  /// The payloads of the frames with parts that one node has received, in order.
  using blocks = std::vector<std::vector<std::byte>>;
  /// By node. `order`: in which the nodes give their parts; empty: by number.
  std::vector<blocks> exchange(const std::function<std::vector<std::byte>(std::uint32_t)>& part_of,
                               const std::vector<std::uint32_t>& order = {});
  /// All leave, and the hub closes all connections.
  void leave();

private:
  struct one;
  void move_on(std::uint32_t node, const machine::ready_set::event& ready);
  void read(std::uint32_t node);
  bool shake_hands(std::uint32_t node);
  void take(std::uint32_t node, launch::frame f);
  void send(std::uint32_t node, std::vector<std::byte> bytes);
  void run_until_all_are_done(const char* what);

  const std::uint32_t nodes_;
  const std::int64_t timeout_ns_;
  launch::job_secret secret_;
  machine::ready_set ready_;
  std::vector<one> all_;
  std::uint32_t done_ = 0;
  bool leaving_ = false;
};

}  // namespace shoal::bench
