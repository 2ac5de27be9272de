// SPDX-License-Identifier: Apache-2.0
// The shared memory through which the nodes of one machine send buffers: for each pair of domains and class a ring of
// slots, and a doorbell, a board and a ring of mail per worker. The transports inproc and shm differ only in the origin
// of this memory.
// Who may call: ring_layout anyone; ring_transport its node. Nothing switches tasks.
// Guarantees: zeroed memory is a valid initial state; unused rings take no memory. A slot is a word with the count,
// then the words. Sender and receiver work in place, without copies. Who sends to a worker that does not look at its
// ring says so on that worker's board: the worker visits those that send.
// Tests: tests/unit/net/ring_world_test.cpp; the protocols: tests/model/slot_ring_test.cpp, announcements_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lockfree/announcements.hpp"
#include "lockfree/slot_ring.hpp"
#include "machine/executor.hpp"
#include "net/channel.hpp"
#include "net/mail.hpp"

namespace shoal::net {

struct ring_shape {
  unsigned nodes = 1;
  unsigned workers = 1;  // per node
  std::size_t slot_bytes = std::size_t{16} << 10;
  std::size_t slots = 8;                              // per ring; a power of two
  machine::executor* executor = &machine::threads();  // of this process
  bool announces_replies = false;                     // to who does not expect them: for routes
};

/// A ring but for its slots. The mark is written seldom, so it has a line for itself.
struct ring_control {
  lockfree::slot_ring_control<> ring;
  alignas(lockfree::k_cache_line_bytes) lockfree::watch_mark<> mark;  // of those that are announced
};

/// Where things lie in the world's memory.
class ring_layout {
public:
  ring_layout(std::byte* memory, const ring_shape& shape) noexcept : memory_(memory), shape_(shape) {}

  static std::size_t bytes(const ring_shape& shape) noexcept;
  const ring_shape& shape() const noexcept { return shape_; }

  lockfree::doorbell<>& bell(unsigned node, unsigned worker) const noexcept;
  /// For the rings that lead to this worker, by board_place().
  lockfree::announcement_board<> board(unsigned node, unsigned worker) const noexcept;
  lockfree::announcement_board<>::word* board_words(unsigned node, unsigned worker) const noexcept;
  static std::size_t board_place(unsigned from, traffic t) noexcept {
    return std::size_t{from} * k_traffic_classes + static_cast<unsigned>(t);
  }
  ring_control& control(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept;
  std::byte* slots(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept;
  mail_ring& mail(unsigned node, unsigned worker) const noexcept;
  /// Of all slots from one node.
  std::size_t bytes_from_node() const noexcept;

private:
  std::size_t ring_index(unsigned from, unsigned to, unsigned worker, traffic t) const noexcept;

  std::byte* memory_;
  ring_shape shape_;
};

/// How the sleepers of a world are woken.
struct ring_waker {
  machine::executor* executor = nullptr;
  bool between_processes = false;
};

/// The node's view of a world. `between_processes`: sleepers and wakers may be in different processes.
class ring_transport : public transport {
public:
  ring_transport(const char* name, ring_layout layout, unsigned node, bool between_processes);
  ~ring_transport() override;

  const char* name() const noexcept override { return name_; }
  domain& at(unsigned worker) noexcept override;
  std::string outstanding(std::uint32_t node) const override;
  buffer_memory buffers() const override;

private:
  const char* name_;
  ring_layout layout_;
  unsigned node_;
  const ring_waker waker_;
  std::vector<std::unique_ptr<domain>> domains_;
};

}  // namespace shoal::net
