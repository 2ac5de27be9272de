// SPDX-License-Identifier: Apache-2.0
// A worker's end of a routed network. Internal to routed_network.hpp. It also looks at what arrives in the inner
// domain of that number, hands on what is for other nodes, and gives the wires of this node what is theirs.
// Threads: one at a time, which holds the lock of the domain above; take() and took_back(): any.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "lockfree/inbox.hpp"
#include "machine/rough_clock.hpp"
#include "machine/zero_array.hpp"
#include "net/channel.hpp"
#include "net/routes/block.hpp"
#include "net/routes/routed_network.hpp"
#include "net/wire.hpp"

namespace shoal::net {

/// A block that has arrived, in memory of the wire that has found it.
struct kept_block : lockfree::inbox_node<> {
  routed_wire* owner = nullptr;
  traffic counted_as = traffic::request;
  block_head head;
  std::unique_ptr<std::uint64_t[]> words;
  std::size_t room = 0;  // words
};

class routed_wire final : public wire, announced_to {
public:
  routed_wire(routed_network& of, unsigned number);
  ~routed_wire() override;

  void send(std::uint32_t node, const message_label& label, std::uint64_t* words, std::size_t count,
            std::atomic<bool>* sent) noexcept override;
  bool progress(wire_user& user) noexcept override;
  void end_look(bool any) noexcept override;
  void give_back(void* token) noexcept override;
  bool all_sent() const noexcept override;
  bool one_sided() const noexcept override { return inner_.one_sided(); }
  bool put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>* done) noexcept override {
    return inner_.put(to.node, to.offset, from, bytes, *done);
  }
  bool get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>* done) noexcept override {
    return inner_.get(from.node, from.offset, to, bytes, *done);
  }
  domain* inner() noexcept override { return &inner_; }
  std::int64_t longest_sleep_ns() noexcept override;

  /// Blocks that have left here: of this node, and of others. Any thread.
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  std::uint64_t handed_on() const noexcept { return handed_on_.load(std::memory_order_relaxed); }

private:
  // What this wire sends to a next hop in one class.
  struct waiting_message {
    std::uint32_t to;
    message_label label;
    const std::uint64_t* words;
    std::size_t count;
    std::atomic<bool>* sent;
  };
  struct own_link {
    explicit own_link(route_link& to) noexcept : shared(to) {}
    route_link& shared;
    std::deque<waiting_message> waiting;  // for room
    bool blocked = false;                 // in blocked_
    bool touched = false;                 // in touched_: the open buffer has blocks of this wire
    bool urgent = false;
    std::uint64_t posted = 0;  // when it was touched last: which buffer is meant
    std::uint64_t since = 0;   // in ticks
    std::uint64_t left = 0;    // when a buffer with blocks of this wire had left
  };
  // What arrives from a neighbour in one class.
  struct arrivals {
    in_channel* in = nullptr;
    traffic its_class = traffic::request;
    std::size_t position = 0;  // in the front buffer
    std::uint32_t looks_in_vain = 0;
    bool watched = false;
    bool stuck = false;  // the block there cannot go on now
  };

  void announced(std::uint32_t node, traffic t) noexcept override;
  bool look_at_arrivals() noexcept;
  bool look_at(arrivals& a) noexcept;
  bool pass_on(const std::uint64_t* block, const block_head& head, traffic t) noexcept;
  bool keep(const std::uint64_t* block, const block_head& head, traffic t) noexcept;
  bool deliver(wire_user& user) noexcept;
  kept_block* memory_for(std::size_t words, traffic t) noexcept;
  void take_back() noexcept;
  void take(kept_block& b) noexcept;
  void wake_worker() noexcept;

  own_link& link_to(std::uint32_t hop, traffic t) noexcept;
  bool put_message(own_link& l, const waiting_message& m) noexcept;
  bool send_waiting() noexcept;
  void touch(own_link& l, bool urgent) noexcept;
  bool is_due(const own_link& l, bool idle, std::uint64_t time) const noexcept;
  void charge(std::size_t copied, machine::work what, std::size_t words) noexcept;

  routed_network& network_;
  domain& inner_;
  const std::uint32_t node_;
  const machine::rough_clock clock_;
  const std::size_t full_words_;  // a message of so many is not urgent
  // By node and class.
  machine::zero_array<std::uint16_t> sent_;  // sequence numbers
  machine::zero_array<std::uint16_t> received_;
  machine::zero_array<own_link*> links_;  // by next hop
  machine::zero_array<arrivals> arrivals_;
  std::vector<std::unique_ptr<own_link>> made_;
  std::vector<own_link*> blocked_;
  std::vector<own_link*> touched_;
  std::size_t next_touched_ = 0;  // to look at
  std::vector<arrivals*> watched_;
  bool has_sent_ = false;                               // since the last look
  std::atomic<std::uint64_t> begun_{0}, handed_on_{0};  // partners: who reads counts
  bool arrivals_first_ = false;

  lockfree::inbox<> inbox_;     // blocks for this wire
  lockfree::inbox<> returned_;  // its own blocks, from other wires
  std::vector<std::unique_ptr<kept_block>> blocks_;
  kept_block* free_ = nullptr;
  std::array<std::size_t, k_traffic_classes> kept_{};  // words of room
};

}  // namespace shoal::net
