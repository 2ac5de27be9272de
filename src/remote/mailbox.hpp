// SPDX-License-Identifier: Apache-2.0
// Messages that leave at once, one by one, to a given worker of a node, where the transport has a way for them
// (net/mail.hpp). For what somebody waits for already; anything else travels in streams, which collect.
// Who may call: tasks of its worker, and handlers where it says so. make_room() may switch tasks.
// Guarantees: messages of one worker to another are executed in order, by that worker; nothing is promised about their
// order with what travels in streams. Bounded: who finds the receiver's ring full waits until there is room.
// Complexity: O(1); poll() executes at most k_most_at_once messages.
// Tests: tests/unit/remote/mailbox_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "net/mail.hpp"
#include "noise/injection.hpp"
#include "remote/stream_waiter.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "trace/event_ring.hpp"

namespace shoal::remote {

class mailbox {
public:
  static constexpr std::size_t k_most_at_once = 64;
  /// While tasks wait for room, nobody rings when there is some.
  static constexpr std::int64_t k_room_look_ns = 50'000;

  /// `port`: nullptr if the transport has no such way.
  mailbox(net::mail_port* port, std::uint32_t node) noexcept : port_(port), node_(node) {}

  bool exists() const noexcept { return port_ != nullptr; }
  /// `events`: of the worker; nullptr: no trace. On the worker, or before it runs.
  void trace_into(trace::event_ring* events) noexcept { events_ = events; }

  /// Room for so many words for `receiver` on that worker of another node; nullptr: none now. The caller fills it and
  /// calls post(), and does nothing in between that may switch tasks or send. Handlers, too.
  std::uint64_t* try_begin(std::uint32_t node, std::uint32_t worker, detail::receiver receiver, std::size_t words) {
    const std::uint64_t name = detail::code_of(receiver);  // may throw, while nothing is begun
    const detail::tsan_ignore_scope ignore;
    out_ = &port_->to(node, worker);
    receiver_ = {node, worker};
    std::uint64_t* const at = out_->begin(1 + words);
    if (at == nullptr) [[unlikely]]
      return nullptr;
    *at = name << k_node_bits | node_;
    return at + 1;
  }
  /// The same; waits until there is room.
  std::uint64_t* begin(std::uint32_t node, std::uint32_t worker, detail::receiver receiver, std::size_t words) {
    for (;;) {
      if (std::uint64_t* const at = try_begin(node, worker, receiver, words); at != nullptr) [[likely]]
        return at;
      make_room(node, worker, 1 + words);
    }
  }
  void post() noexcept {
    noise::passes(noise::injected_at::message);
    if (events_ != nullptr) [[unlikely]]
      trace_post();
    const detail::tsan_ignore_scope ignore;
    out_->post();
  }

  /// Executes messages that have come, and wakes who waits for room; true if there was anything.
  bool poll(sched::worker& w) noexcept {
    if (port_ == nullptr) return false;
    bool any = false;
    if (port_->in.seems_available()) any = execute(w);
    const detail::tsan_ignore_scope ignore;
    if (!crowded_.empty()) [[unlikely]]
      any |= wake_waiters();
    return any;
  }
  /// Whether poll() would find something. Any thread, while the worker sleeps.
  bool pending() noexcept;
  /// Whether a message has come that is not executed. Any thread, while the worker sleeps.
  bool in_flight() const noexcept { return port_ != nullptr && port_->in.seems_available(); }
  bool anyone_waits() const noexcept {
    const detail::tsan_ignore_scope ignore;
    return !crowded_.empty();
  }

private:
  static constexpr unsigned k_node_bits = 20;
  struct waiters {
    net::mail_out* for_room_in = nullptr;
    std::size_t words = 0;  // that the first one needs
    stream_waiter* first = nullptr;
    stream_waiter* last = nullptr;
  };

  bool execute(sched::worker& w) noexcept;
  [[gnu::cold]] void trace_post() noexcept;
  bool wake_waiters() noexcept;
  void make_room(std::uint32_t node, std::uint32_t worker, std::size_t words);

  net::mail_port* port_;
  net::mail_out* out_ = nullptr;  // between begin() and post()
  trace::event_ring* events_ = nullptr;
  struct {
    std::uint32_t node = 0, worker = 0;
  } receiver_;  // between begin() and post()
  std::uint32_t node_;
  bool executes_ = false;  // a handler that polls does not execute others
  std::uint64_t last_name_ = ~std::uint64_t{0};
  detail::receiver_function last_code_ = nullptr;  // of last_name_
  std::vector<waiters> crowded_;                   // receivers without room
  std::size_t next_look_ = 0;
};

/// Of a worker.
mailbox& mailbox_of(detail::worker_base& w) noexcept;

}  // namespace shoal::remote
