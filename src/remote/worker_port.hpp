// SPDX-License-Identifier: Apache-2.0
// The issuing half of a domain, the implementation of detail::port: streams of commands to other nodes, their replies,
// and the tasks that wait for space, for an acknowledgement, or for a reply.
// Who may call: its worker only. make_room() and the settle functions may switch tasks; poll() does not.
// Guarantees: each waiter is woken by its own event; of one-sided transfers the oldest is looked at.
// Bounded: a worker that writes faster than the receiver executes has no free buffers and waits.
// Cost: a node that is not used takes no memory; polls, waits and flushes visit the nodes for which something is open
// or in flight.
// Tests: tests/unit/remote/, tests/cluster/.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "aggregate/outbox.hpp"
#include "base/rough_time.hpp"
#include "machine/zero_array.hpp"
#include "net/channel.hpp"
#include "remote/call_credits.hpp"
#include "remote/call_table.hpp"
#include "remote/handler_port.hpp"
#include "remote/mailbox.hpp"
#include "remote/replies.hpp"
#include "remote/server.hpp"
#include "remote/stream_waiter.hpp"
#include "remote/transfers.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::remote {

/// Waits for the operations of a worker in flight to all nodes: takes the marks of all of them at once, so that the wait
/// takes one round trip however many there are. Where there is no memory for so many, it takes a few at a time.
class settling {
public:
  /// Called on the port's worker when all is complete, unless begin() returned true. May end the life of `settling`.
  void (*done)(settling&) noexcept = nullptr;

  /// True if there is nothing to wait for. `handlers`: also what handlers have begun.
  bool begin(class worker_port& port, bool handlers = false) noexcept;

private:
  struct of_node final : stream_waiter {
    settling* all = nullptr;
  };
  static constexpr std::uint32_t k_few = 4;

  bool unsettled(std::uint32_t stream) const noexcept;
  bool settled(std::uint32_t stream, of_node& at) noexcept;
  bool take_marks() noexcept;
  template <class Each>
  void for_active(const Each& each) const noexcept;
  bool go_on() noexcept;

  worker_port* port_ = nullptr;
  std::array<of_node, k_few> few_;
  std::unique_ptr<of_node[]> many_;
  std::uint32_t left_ = 0;     // marks that are not reached
  std::uint32_t next_ = 0;     // where there is no memory for all marks: the first stream whose mark is not taken
  std::uint32_t streams_ = 0;  // one for each node; then, with handlers, another; the last: transfers
  std::uint64_t passes_ = 0;   // of what is withheld, that must have ended first
};

class worker_port final : public detail::port {
public:
  worker_port(net::domain& domain, server& serving, detail::node_context& of, bool exclusive,
              aggregate::overflow_memory& overflow);
  worker_port(const worker_port&) = delete;
  worker_port& operator=(const worker_port&) = delete;
  ~worker_port();

  bool poll(sched::worker& w) noexcept;
  bool pending() noexcept;
  void flush(aggregate::reason why) noexcept;
  /// To be called from time to time, at `now` of rough_time: sends buffers for which tasks wait, if nothing was added to
  /// them for k_quiet_ticks and no earlier buffer is in flight, or if they are send_after_us old. Looks at k_most_looks
  /// streams at most. Every 100 us it wakes deputies of nodes that execute nothing.
  void send_awaited(std::uint64_t now) noexcept;
  void send_after_us(unsigned us) noexcept { old_ticks_ = us * k_ticks_per_us; }
  void await_buffer(std::uint32_t node) noexcept;

  void make_room(std::uint32_t node, std::size_t words);
  bool try_make_room(std::uint32_t node, std::size_t words) noexcept;
  /// Calls `waiter.fire` when there may be room.
  void when_room(std::uint32_t node, stream_waiter& waiter) noexcept;
  /// How many passes over what is withheld must have ended when all that is withheld now is written.
  std::uint64_t passes_needed() const noexcept;
  /// Writes what is withheld until so many passes have ended: detail::k_all_written, or the node for which there is no
  /// room.
  std::uint32_t write_withheld(std::uint64_t passes) noexcept;
  /// True: all commands written so far to `node` are executed and replied to. False: calls `waiter.fire` when they are.
  bool settled(std::uint32_t node, stream_waiter& waiter) noexcept;
  /// Returns when all commands written so far to `node` are executed and replied to. May switch.
  void settle(std::uint32_t node);
  /// Whether operations to that node are in flight.
  bool unsettled(std::uint32_t node) const noexcept;
  /// Whether anything is in flight, to any node. Any thread, while the worker sleeps.
  bool in_flight() const noexcept;
  /// The nodes for which something is open or in flight, and maybe some for which it was at the last poll. Their order
  /// changes with each poll and command.
  const machine::zero_list<std::uint32_t>& active() const noexcept { return active_; }
  /// Memory that depends on the number of nodes. Reads /proc.
  std::size_t resident_bytes_of_peers() const { return hot_.resident_bytes() + peers_.resident_bytes(); }

  /// Begin a copy by the network, and wait only while too many are in flight; false if the network refuses, and
  /// nothing was begun. May switch.
  bool put_by_network(std::uint32_t to, std::uint64_t offset, const void* from, std::size_t bytes);
  bool get_by_network(std::uint32_t from, std::uint64_t offset, void* to, std::size_t bytes);
  /// Returns when all transfers begun so far have ended. May switch.
  void wait_for_transfers() { wait_for_transfers(transfers_.mark()); }
  /// Those in flight; settle_all() waits for them, too.
  transfers& in_network() noexcept { return transfers_; }
  const transfers& in_network() const noexcept { return transfers_; }
  net::domain& domain() noexcept { return domain_; }
  /// How long its worker may park. Short while a transfer is pending, since nobody wakes the worker when it ends. Wakes
  /// deputies where nodes have not executed what was sent to them; short also while these nodes' workers are all awake.
  std::int64_t longest_sleep_ns() noexcept;

  server& serving() noexcept { return serving_; }
  handler_port& for_handlers() noexcept { return handler_port_; }
  mailbox& mail() noexcept { return mail_; }
  const aggregate::flush_counts& flushes() const noexcept { return flushes_; }
  /// Before the worker runs.
  void trace_into(trace::event_ring* events) noexcept {
    flushes_.events = events;
    mail_.trace_into(events);
  }

private:
  struct peer {
    aggregate::outbox requests;
    reply_source replies;
    stream_waiters settling;
    settling_tasks settling_in_tasks;
    stream_waiter* for_room = nullptr;
    std::uint64_t done_seen = 0;  // at the last look for deputies
    bool listed = false;          // in awaited_
    bool active = false;          // in active_
    bool made = false;            // zeros: not yet
    peer* made_before = nullptr;
  };
  // A stream for whose open buffer tasks wait, or waited before it was sent.
  struct awaited_stream {
    std::uint32_t node;
    const std::uint64_t* cursor = nullptr;  // when it was looked at last
    std::uint64_t posted = 0;               // the buffers before it
    std::uint64_t since = 0;                // in ticks: when it was first looked at
    std::uint64_t changed = 0;              // when something was added
  };
  static constexpr std::uint64_t k_ticks_per_us = 1000 * base::rough_time::k_per_ns;
  static constexpr std::uint64_t k_quiet_ticks = 10 * k_ticks_per_us;
  static constexpr std::size_t k_most_looks = 64;
  static constexpr unsigned k_mail_polls = 8;  // one in so many looks for everything else, too
  static constexpr std::uint64_t k_deputies_ticks = 100 * k_ticks_per_us;
  static constexpr std::int64_t k_first_deputies_ns = 50'000;
  static constexpr std::int64_t k_last_deputies_ns = 10'000'000;

  peer& known(std::uint32_t to) noexcept;
  void make(std::uint32_t to) noexcept;
  void activate(std::uint32_t to, peer& p) noexcept;
  bool is_quiet(std::uint32_t to) const noexcept;
  bool poll_peers(sched::worker& w) noexcept;
  void hold_tasks(bool held) noexcept;
  bool wake_waiters(sched::worker& w, std::uint32_t node) noexcept;
  void wake_deputies() noexcept;
  template <class Start>
  bool begin_transfer(const Start& start);
  void wait_for_transfers(std::uint64_t mark);

  server& serving_;
  handler_port handler_port_;
  const aggregate::overflow_memory& overflow_;
  bool holds_tasks_ = false;       // since handlers' commands are in memory: streams have no room
  stream_waiter* held_ = nullptr;  // tasks that write when this is over
  // A pass writes all that was withheld when it began: one after the other.
  detail::withheld* writing_ = nullptr;
  detail::withheld* to_write_ = nullptr;
  std::uint64_t passes_ = 0;  // that have ended
  // By node, made by the first command: of zeros a stream is not open, so that command asks for room.
  machine::zero_array<detail::peer_port> hot_;
  machine::zero_array<peer> peers_;
  peer* made_ = nullptr;  // the last one
  machine::zero_list<std::uint32_t> active_;
  machine::zero_list<awaited_stream> awaited_;
  std::uint64_t deputies_looked_ = 0;
  std::uint64_t old_ticks_ = 200 * k_ticks_per_us;
  std::size_t next_look_ = 0;
  net::domain& domain_;
  transfers transfers_;
  mailbox mail_;
  unsigned mail_polls_ = 0;  // that found some
  bool told_of_refusal_ = false;
  std::int64_t deputies_ns_ = k_first_deputies_ns;  // until the next look for deputies
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
    unsigned send_after_us = 200;                        // the age at which a buffer that a task waits for is sent
    std::uint64_t overflow_bytes = 64 << 20;             // for what can neither be sent nor wait
    std::uint64_t call_bytes = 4 << 20;                  // for calls of other nodes that have not begun
  };
  explicit node_ports(const setup& s);

  /// Whether one worker alone reads and writes the node's memory, so that it may modify elements with plain
  /// instructions: nobody else maps it or executes commands, and no transfer by the network writes to it.
  static bool is_exclusive(const setup& s);

  /// Connects port and worker; before the worker's thread starts.
  void attach(sched::worker& w) noexcept;

  bool poll(sched::worker& w) noexcept override;
  bool poll_mail(sched::worker& w) noexcept override { return port_of(w).mail().poll(w); }
  void send_awaited(sched::worker& w, std::uint64_t now) noexcept override;
  bool flush(sched::worker& w) noexcept override;
  bool pending(sched::worker& w) noexcept override;
  std::int64_t longest_sleep_ns(sched::worker& w) noexcept override;
  bool fence(sched::worker& w, sched::fence_request& request) noexcept override;
  bool in_flight(sched::worker& w) noexcept override;

  worker_port& at(unsigned worker) noexcept { return *ports_[worker]; }
  server& server_at(unsigned worker) noexcept { return *servers_[worker]; }
  call_credits& credits() noexcept { return credits_; }
  const net::transport& transport() const noexcept { return transport_; }
  const aggregate::overflow_memory& overflow() const noexcept { return overflow_; }
  /// Another wave of quiesce() begins here.
  void begin_wave() noexcept { wave_.fetch_add(1, std::memory_order_relaxed); }
  /// How many operations handlers of this node had begun at each worker's first fence since then.
  std::uint64_t begun_by_handlers() const noexcept;

private:
  worker_port& port_of(const sched::worker& w) noexcept { return *ports_[w.index]; }

  void ring_siblings(const sched::worker& w) noexcept;

  /// Of siblings, when a worker is idle, in turn.
  static constexpr std::size_t k_most_sibling_looks = 8;

  net::transport& transport_;
  aggregate::overflow_memory overflow_;
  call_credits credits_;
  const std::uint64_t by_network_bytes_;
  node_calls calls_;
  std::vector<sched::worker*> workers_;
  std::vector<std::unique_ptr<server>> servers_;
  std::vector<std::unique_ptr<worker_port>> ports_;
  std::vector<std::size_t> next_looks_;  // by worker, its own: the distance to the sibling it looks at next, less 1
  // Partner: fence(). Relaxed: the errands that bring a wave's fences to the workers order it.
  std::atomic<std::uint32_t> wave_{0};
};

}  // namespace shoal::remote
