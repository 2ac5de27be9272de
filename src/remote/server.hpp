// SPDX-License-Identifier: Apache-2.0
// The serving half of a domain: decodes the buffers of requests that arrive for one worker's domain and executes them.
// Who may call: the thread that holds it (try_hold): its worker, an idle sibling, or a thread for requests, so that a
// long task does not delay messages. Handlers that poll find it held. Never switches tasks.
// Guarantees: requests of a node are executed in order. When there is no reply space, it stops in the middle of a
// buffer and continues later, so requests never wait for requests. A buffer is released only when all of it has been
// executed: this acknowledges it to the sender. Nodes that have sent nothing take no memory; those that have sent
// nothing for long are not looked at. Tests: tests/unit/remote/server_test.cpp, tests/cluster/.
#pragma once

#include <atomic>
#include <cstdint>

#include "aggregate/outbox.hpp"
#include "aggregate/overflow_memory.hpp"
#include "lockfree/watch_list.hpp"
#include "machine/zero_array.hpp"
#include "net/channel.hpp"
#include "remote/handlers.hpp"

namespace shoal::remote {

class server final : net::announced_to {
public:
  static constexpr int k_most_buffers = 8;
  /// In vain, at a node's requests, one after the other; then the node announces itself before it is looked at again.
  static constexpr std::uint32_t k_most_looks = 1024;

  server(net::domain& domain, std::uint32_t nodes, std::byte* segment, std::uint64_t segment_bytes, bool exclusive,
         const aggregate::overflow_memory* overflow = nullptr);
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  bool try_hold() noexcept {
    return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
  }
  void let_go() noexcept { held_.store(false, std::memory_order_release); }

  /// Executes requests that have arrived, on behalf of `w`; null: memory accesses only, up to the first call. True if
  /// there was anything. Only while held. At most k_most_buffers of each node: its worker has tasks, and other nodes
  /// send too.
  bool serve(detail::worker_base* w) noexcept;
  /// Whether serve() seems to have something to do. Any thread, also while another serves. Nothing is missed by the
  /// domain's worker, which asks before it sleeps.
  bool pending() const noexcept;
  /// The number of nodes that are looked at; those whose handlers send count again. While held, or at rest.
  std::size_t watched() const noexcept { return handlers_watched_.size() + tasks_watched_.size(); }

  struct statistics {
    std::uint64_t buffers = 0;
    std::uint64_t commands = 0;
    std::uint64_t stalls = 0;  // for want of room for replies, or for what handlers send
    aggregate::flush_counts replies;
  };
  const statistics& counts() const noexcept { return counts_; }
  /// The worker whose messages these are, for the trace: a sibling may execute them. At start.
  void belongs_to(unsigned worker) noexcept {
    worker_ = counts_.replies.receiver = static_cast<std::uint16_t>(worker);
    counts_.replies.sent_as = trace::event_kind::reply_send;
  }

private:
  // What tasks, or what handlers, of one node send.
  struct peer {
    net::in_channel* requests = nullptr;  // null: not made
    std::uint32_t node = 0;
    std::uint32_t looks_in_vain = 0;
    bool watched = false;
    detail::stream reply_stream;
    aggregate::outbox replies;
    std::size_t position = 0;  // in the front buffer: where execution stopped
    std::uint64_t taken = 0;   // buffers, for the trace
  };
  using peers = lockfree::watch_list<peer>;

  void announced(std::uint32_t node, net::traffic t) noexcept override;
  bool serve_all(peers& watched, const aggregate::overflow_memory* limit, detail::worker_base* w) noexcept;
  bool serve_peer(peer& p, const aggregate::overflow_memory* limit, detail::worker_base* w) noexcept;

  net::domain& domain_;
  const std::uint32_t nodes_;
  const handler_table& handlers_;
  serving serving_;
  machine::zero_array<peer> peers_;  // by node: of its handlers; then, again by node, of its tasks
  machine::zero_array<peers::entry> entries_;
  peers handlers_watched_;
  peers tasks_watched_;
  const aggregate::overflow_memory* const overflow_;
  statistics counts_;
  std::uint16_t worker_ = 0;
  std::atomic<bool> held_{false};  // partners: others that serve
};

}  // namespace shoal::remote
