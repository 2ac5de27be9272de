// SPDX-License-Identifier: Apache-2.0
// The issuing half of a domain, the implementation of detail::port: streams of commands to other nodes, their replies,
// and the tasks that wait for space, for an acknowledgement, or for a reply.
// Who may call: its worker only. make_room() and the settle functions may switch tasks; poll() does not.
// Guarantees: each waiter is woken by its own event; only one-sided transfers are polled one by one.
// Bounded: a worker that writes faster than the receiver executes has no free buffers and waits.
// Tests: tests/unit/remote/, tests/cluster/.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "aggregate/outbox.hpp"
#include "net/channel.hpp"
#include "remote/server.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::remote {

/// Waits for all commands written so far to one node to be executed and replied to, or for a free buffer to that node.
struct stream_waiter {
  std::uint64_t executed_mark = 0;
  std::uint64_t reply_mark = 0;
  stream_waiter* next = nullptr;
  void (*fire)(stream_waiter&) noexcept = nullptr;
};

/// A copy by the network itself, and the task that waits for it.
struct transfer {
  std::atomic<bool> done{false};  // partner: the network, on whichever thread moves it
  detail::suspended* task = nullptr;
  transfer* next = nullptr;
};

class worker_port final : public detail::port {
public:
  worker_port(net::domain& domain, server& serving, detail::node_context& of, bool exclusive);

  bool poll(sched::worker& w) noexcept;
  bool pending() noexcept;
  void flush(aggregate::reason why) noexcept;

  void make_room(std::uint32_t node, std::size_t words);
  /// True: all commands written so far to `node` are executed and replied to. False: calls `waiter.fire` when they are.
  bool settled(std::uint32_t node, stream_waiter& waiter) noexcept;
  /// The first node from number `from` on with pending operations; `nodes` if there is none.
  std::uint32_t first_unsettled(std::uint32_t from) noexcept;

  /// Waits for it; false if the network refuses, and nothing was begun. `begin`: put() or get() of the domain.
  template <class Begin>
  bool wait_for_transfer(const Begin& begin);
  net::domain& domain() noexcept { return domain_; }
  /// How long its worker may park. Short while a transfer is pending, since nobody wakes the worker when it ends.
  std::int64_t longest_sleep_ns() noexcept;

  server& serving() noexcept { return serving_; }
  const aggregate::flush_counts& flushes() const noexcept { return flushes_; }

private:
  struct peer {
    aggregate::outbox requests;
    net::in_channel* replies = nullptr;
    stream_waiter* first_settling = nullptr;  // in the order of their marks
    stream_waiter* last_settling = nullptr;
    stream_waiter* for_room = nullptr;
  };

  bool take_replies(sched::worker& w, std::uint32_t node) noexcept;
  bool wake_waiters(std::uint32_t node) noexcept;
  bool end_transfers() noexcept;

  server& serving_;
  std::vector<detail::peer_port> hot_;
  std::vector<peer> peers_;
  net::domain& domain_;
  transfer* transfers_ = nullptr;  // begun and not yet seen to be done
  bool told_of_refusal_ = false;
  aggregate::flush_counts flushes_;
};

/// What this layer does for the workers of a node.
class node_ports final : public sched::pool_hooks {
public:
  struct setup {
    net::transport* transport = nullptr;
    detail::node_context* context = nullptr;  // complete but for what tasks use; outlives the ports
    unsigned workers = 1;
    unsigned request_threads = 0;  // that execute commands beside the workers
    std::uint64_t segment_bytes = 0;
    std::uint64_t by_network_bytes = ~std::uint64_t{0};  // copies from this size on are one-sided, if possible
    bool mapped_elsewhere = false;                       // other nodes access this node's segment directly
  };
  explicit node_ports(const setup& s);

  /// Connects port and worker; before the worker's thread starts.
  void attach(sched::worker& w) noexcept;

  bool poll(sched::worker& w) noexcept override;
  bool flush(sched::worker& w) noexcept override;
  bool pending(sched::worker& w) noexcept override;
  std::int64_t longest_sleep_ns(sched::worker& w) noexcept override;
  bool fence(sched::worker& w, sched::fence_request& request) noexcept override;

  worker_port& at(unsigned worker) noexcept { return *ports_[worker]; }
  server& server_at(unsigned worker) noexcept { return *servers_[worker]; }

private:
  net::transport& transport_;
  const std::uint64_t by_network_bytes_;
  std::vector<std::unique_ptr<server>> servers_;
  std::vector<std::unique_ptr<worker_port>> ports_;
};

}  // namespace shoal::remote
