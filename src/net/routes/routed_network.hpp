// SPDX-License-Identifier: Apache-2.0
// Messages between workers over routes: the network under message_transport where private buffers for each pair of
// workers would be too many. A message is a block of some hundred bytes that a worker has filled for one node; blocks
// for the same next hop share the large buffers of an inner transport (link.hpp), and nodes on the way hand them on.
//   Order: blocks of one worker for one node and class follow one path. Room: a node that cannot hand a block on, or
// has no memory for one, leaves it in the buffer it came in; by the order of hops (route.hpp), and since classes do not
// wait for each other, the way is free again after a while.
//   When buffers leave: full; or urgent (a block that was not full says that somebody may wait) as soon as none is in
// flight to that hop; or old.
// Who may call: as for a network and its wires (wire.hpp). Test: tests/unit/net/routed_network_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "machine/executor.hpp"
#include "machine/zero_array.hpp"
#include "net/channel.hpp"
#include "net/routes/link.hpp"
#include "net/routes/route.hpp"
#include "net/wire.hpp"

namespace shoal::net {

class routed_wire;

struct routed_shape {
  std::uint32_t node = 0;
  unsigned workers = 1;                   // per node; each has a wire
  std::size_t block_words = 61;           // of the usual message
  std::size_t most_words = 61;            // of the largest
  std::size_t most_blocks = 1024;         // usual ones that a wire keeps for workers of this node, of each class
  machine::executor* executor = nullptr;  // of this process
};

class routed_network final : public network {
public:
  /// `inner` announces replies, too; its buffers have room for a block.
  routed_network(std::unique_ptr<transport> inner, std::shared_ptr<const route_map> map, const routed_shape& shape);
  ~routed_network() override;

  std::vector<std::byte> address() override { return {}; }
  void connect(std::span<const std::vector<std::byte>>) override {}
  wire& at(unsigned domain) noexcept override;
  std::string describe() const override;
  bool may_leave() noexcept override;
  std::pair<std::uint64_t, std::uint64_t> buffer_bytes() const override {
    const buffer_memory m = inner_->buffers();
    return {m.reserved_bytes, m.resident_bytes};
  }
  std::uint64_t registrations() const noexcept override { return inner_->registered().times; }
  std::uint64_t registered_bytes() const noexcept override { return inner_->registered().bytes; }

  /// Any thread.
  route_counts counts() const;

  // For the wires.
  const route_map& map() const noexcept { return *map_; }
  const routed_shape& shape() const noexcept { return shape_; }
  transport& inner() noexcept { return *inner_; }
  route_link& link(std::uint32_t hop, traffic t) noexcept;
  routed_wire& wire_of(unsigned lane) noexcept { return *wires_[lane]; }
  /// A neighbour on the tree towards node 0 says that it and all behind it have ended, or that all nodes have.
  void child_ended() noexcept { ended_children_.fetch_add(1, std::memory_order_relaxed); }
  void all_ended() noexcept { all_ended_.store(true, std::memory_order_relaxed); }

private:
  bool say(std::uint32_t to, std::uint8_t kind) noexcept;
  bool say_to_children() noexcept;

  std::unique_ptr<transport> inner_;
  const std::shared_ptr<const route_map> map_;
  const routed_shape shape_;
  // By next hop and class, from the first use on. Partners: link().
  machine::zero_array<std::atomic<route_link*>> links_;
  mutable std::mutex making_;
  std::vector<std::unique_ptr<route_link>> made_;  // under making_
  std::vector<std::unique_ptr<routed_wire>> wires_;
  // Partners: the wires, which count, and may_leave().
  std::atomic<std::uint32_t> ended_children_{0};
  std::atomic<bool> all_ended_{false};
  bool told_parent_ = false;
  std::vector<std::uint32_t> children_;  // once it ends
  std::size_t children_told_ = 0;
  bool has_asked_ = false;
};

}  // namespace shoal::net
