// SPDX-License-Identifier: Apache-2.0
// The port of what the handlers issue that a worker executes (handler_scope in port.hpp). It differs from the worker's
// own: nothing waits, since a handler runs while messages are decoded. What finds no free buffer stays in memory; only
// the memory of the own node is mapped; what handlers send has classes of traffic of its own.
// Who may call: its worker. Never switches tasks.
// Guarantees: nodes execute what handlers send whatever else is held back, so what is in memory is sent in the end.
// A node takes memory from the first command for it on; beyond overflow_memory the process ends and names the handler.
// Bare verbs on elements of other nodes, and waits, end the process with a message.
// Tests: tests/unit/remote/handler_port_test.cpp, tests/cluster/handler_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "aggregate/overflow_outbox.hpp"
#include "machine/zero_array.hpp"
#include "remote/replies.hpp"
#include "remote/stream_waiter.hpp"
#include "remote/waves.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::remote {

class handler_port final : public detail::port {
public:
  handler_port(net::domain& domain, detail::node_context& of, bool exclusive, aggregate::overflow_memory& memory);
  ~handler_port();

  /// When the worker executes its first handler.
  void prepare();
  void make_room(std::uint32_t to, std::size_t words) noexcept;

  /// Sends from memory, takes replies, fires waiters, executes calls of the own node.
  bool poll(sched::worker& w) noexcept;
  bool pending() noexcept;
  /// True if it sent anything.
  bool flush(aggregate::reason why) noexcept;
  /// As worker_port::send_awaited: what a handler has written is always waited for.
  void send_awaited(std::uint64_t now, std::uint64_t old_ticks) noexcept;
  /// True if a node has not executed something, and has workers that another could wake.
  bool wake_deputies() noexcept;

  /// As in worker_port.
  bool settled(std::uint32_t to, stream_waiter& w) noexcept;
  /// Also for another thread, while the worker sleeps: it changes nothing.
  bool unsettled(std::uint32_t to) const noexcept;
  /// Of any node. As unsettled().
  bool in_flight() const noexcept;
  /// As in worker_port.
  const machine::zero_list<std::uint32_t>& active() const noexcept { return active_; }
  /// How many operations its handlers had begun at the first of these calls in a wave; for any thread.
  void note_issued(std::uint32_t wave) noexcept { issued_.note(wave, async_issued); }
  std::uint64_t noted_issued() const noexcept { return issued_.begun(); }

  [[noreturn, gnu::cold, gnu::noinline]] void refuse(const char* what) const noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void refuse_wait(detail::wait_kind why) const noexcept;

private:
  struct peer {
    aggregate::overflow_outbox requests;
    reply_source replies;
    stream_waiters settling;
    bool made = false;  // zeros: not yet
    bool active = false;
    const std::uint64_t* cursor_seen = nullptr;  // at the last look
    std::uint64_t since = 0;                     // in ticks: of the first look at this buffer
    std::uint64_t changed = 0;
    peer* made_before = nullptr;
  };
  struct tables;

  peer& make(std::uint32_t to) noexcept;
  bool is_quiet(std::uint32_t to) const noexcept;
  bool run_own_calls(sched::worker& w) noexcept;
  [[noreturn, gnu::cold, gnu::noinline]] void exhausted() const noexcept;

  net::domain& domain_;
  aggregate::overflow_memory& memory_;
  aggregate::flush_counts flushes_;
  std::unique_ptr<tables> tables_;  // from the first handler on
  // The same. Partners: prepare(), and unsettled() of another thread.
  std::atomic<const tables*> tables_for_others_{nullptr};
  machine::zero_list<std::uint32_t> active_;  // something is open, in memory, in flight or waited for
  wave_note issued_;
};

}  // namespace shoal::remote
