// SPDX-License-Identifier: Apache-2.0
// Channels over a network library: the transports ucx and mpi. Each worker has a lane; a lane belongs to a domain,
// which is a wire with a lock, for one lane or several. A lane of one node communicates with the same lane of other
// nodes.
//   Room: a channel has `slots` buffers; a slot is free again when the receiver has executed its buffer.
//   Acknowledgements: every message carries the number of executed buffers of each class. If no message goes that way,
//   they are sent alone: for requests at once, for replies when half of the room is used up.
//   Deputies: who waits for a worker that does not look asks its siblings, one after the other, to serve instead.
// Who may call: message_transport: the node's thread; its domains as in channel.hpp; progress() any worker.
// Guarantees: those of channel.hpp. Unused buffers take no memory. A node that cannot be reached is reported once to
// `lost`, on the thread that detected it.
// Tests: tests/unit/net/message_transport_test.cpp, stress: tests/stress/message_transport_test.cpp.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/executor.hpp"
#include "net/channel.hpp"
#include "net/wire.hpp"
#include "shoal/locks/any_lock.hpp"

namespace shoal::net {

/// Which domain messages of a worker go through.
enum class message_route : std::uint8_t {
  own,       // the worker's: threads can be addressed
  domain_0,  // one for the whole process, polled by all workers now and then (GASNet's scheme)
};

/// Who moves the messages.
enum class progress_role : std::uint8_t {
  workers,  // each its own, idle ones also their siblings'
  server,   // a thread for all domains of the node, fed through the channels' rings (GMT's communication server)
};

struct message_shape {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  unsigned workers = 1;  // per node
  unsigned domains = 1;  // per node; workers share them in turn
  std::size_t slot_bytes = std::size_t{16} << 10;
  std::size_t slots = 8;  // per channel; a power of two
  // Others, for messages that are larger than a slot, and how many a worker has for all its channels of a class; 0: none.
  std::size_t large_bytes = 0;
  unsigned large_slots = 4;
  std::size_t credits = 0;  // messages in flight per channel; a power of two, at least `slots`; 0: that many
  message_route route = message_route::own;
  std::uint32_t poll_mask = 0;  // with domain_0: workers of other domains poll it every poll_mask + 1 polls
  progress_role progress = progress_role::workers;
  std::string lock = "bounded";
  wait_kind wait = wait_kind::adaptive;
  machine::executor* executor = &machine::threads();

  // Requests may wait in the network until replies have made room. So what a request acknowledges is acknowledged once
  // more, by itself or with a reply.
  bool requests_may_wait = false;
  bool announces_replies = false;  // to who does not expect them: for routes

  std::size_t in_flight() const noexcept { return credits == 0 ? slots : credits; }
  /// What a wire must be able to carry.
  std::size_t most_words() const noexcept {
    return std::max(slot_bytes, large_bytes) / sizeof(std::uint64_t) - k_label_words;
  }
  std::size_t slot_words() const noexcept { return slot_bytes / sizeof(std::uint64_t) - k_label_words; }
};

class message_domain;
class message_lane;
class message_server;
class message_watch;

class message_transport final : public transport {
public:
  using loss_handler = std::function<void(std::uint32_t node, const char* why)>;
  /// The network is connected already. `lost` may be called by any thread; it must not throw.
  message_transport(const char* name, std::unique_ptr<network> net, const message_shape& shape, loss_handler lost);
  ~message_transport() override;

  const char* name() const noexcept override { return name_; }
  domain& at(unsigned worker) noexcept override;
  void finish(bool in_order) noexcept override;
  std::string outstanding(std::uint32_t node) const override;
  registered_memory registered() const noexcept override;
  buffer_memory buffers() const override;
  network& underneath() noexcept { return *net_; }
  route_counts counts_of_routes() const override { return routed_ ? routed_() : route_counts{}; }
  /// Before workers use it: the network goes over routes, and counts.
  void set_route_counts(std::function<route_counts()> of) { routed_ = std::move(of); }

private:
  void end_threads() noexcept;
  template <class Done>
  void wait(std::uint64_t at_most_ns, const Done& done) noexcept;

  const char* name_;
  machine::executor& executor_;
  std::unique_ptr<network> net_;
  loss_handler lost_;
  std::function<route_counts()> routed_;
  std::vector<std::unique_ptr<message_domain>> domains_;
  std::vector<std::unique_ptr<message_lane>> lanes_;
  std::unique_ptr<message_server> server_;
  std::unique_ptr<message_watch> watch_;
};

}  // namespace shoal::net
