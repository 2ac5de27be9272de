// SPDX-License-Identifier: Apache-2.0
// The transport of a simulated machine: buffers travel in virtual time. A buffer posted at a time is seen by its
// receiver from its time of arrival on (network.hpp), an acknowledgement by the sender after the way back; doorbells
// ring at these times. Posts, releases and polls charge the caller's clock (costs.hpp) and let others run whose clocks
// are behind.
// Who may call: threads of the executor, which all run in one thread of the system. Nothing switches tasks.
// Guarantees: those of net/channel.hpp, and the arrivals of a channel keep the order of its posts. A channel costs
// memory from its first buffer on; the buffers in flight are all that there are. Tests:
// tests/unit/net/sim_transport_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/channel.hpp"
#include "net/transports/sim/network.hpp"
#include "net/transports/sim/sim_executor.hpp"

namespace shoal::net {

struct sim_world_shape {
  unsigned nodes = 1;
  unsigned workers = 1;
  std::size_t slot_bytes = std::size_t{16} << 10;
  std::size_t slots = 8;  // buffers in flight per channel
  sim_network_shape network;
  std::vector<sim_fault> faults;  // of links
  bool is_routed = false;  // replies are announced, too, and who fills and empties buffers charges for their words
};

struct sim_traffic {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

class sim_domain;

class sim_world {
public:
  sim_world(const sim_world_shape& shape, sim_executor& by);
  sim_world(const sim_world&) = delete;
  sim_world& operator=(const sim_world&) = delete;
  ~sim_world();

  std::unique_ptr<transport> connect(unsigned node);

  const sim_world_shape& shape() const noexcept { return shape_; }
  sim_executor& executor() noexcept { return executor_; }
  sim_network& network() noexcept { return network_; }
  sim_domain& at(unsigned node, unsigned worker) noexcept {
    return *domains_[std::size_t{node} * shape_.workers + worker];
  }
  const sim_traffic& total() const noexcept { return total_; }
  void count(std::size_t bytes) noexcept {
    ++total_.messages;
    total_.bytes += bytes;
  }
  /// A random part of what jitter allows.
  std::uint64_t draw_jitter_ps() noexcept;

  // Buffers that no channel has.
  std::unique_ptr<std::uint64_t[]> take_buffer();
  void give_buffer(std::unique_ptr<std::uint64_t[]> buffer) { free_.push_back(std::move(buffer)); }

private:
  const sim_world_shape shape_;
  sim_executor& executor_;
  sim_network network_;
  std::vector<std::unique_ptr<sim_domain>> domains_;
  std::vector<std::unique_ptr<std::uint64_t[]>> free_;
  sim_traffic total_;
};

}  // namespace shoal::net
