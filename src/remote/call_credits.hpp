// SPDX-License-Identifier: Apache-2.0
// How many calls of this node may be on their way to another node, or wait there to begin: per called node a number of
// words, a credit, which returns when the call begins. Calls of loops' shares are calls like others; an answer needs no
// credit, since its caller has made room for it.
// Who may call: tasks and handlers of the node. send() may switch tasks; the others do not.
// Guarantees: what one node has called on another, and what has not begun there, takes at most window_words(). Without
// credit, a call of an outermost task, or of an iteration of an outermost loop, waits: it needs nothing but that calls
// begin, and they begin whatever other tasks wait for. A call of any other task, or of a handler, stays in memory, and is
// sent when credit returns; beyond overflow_memory the process ends.
// Credit returns, and such calls are sent, as handlers send: it never waits. Memory per node from the first call on.
// Tests: tests/unit/remote/call_credits_test.cpp, tests/cluster/credit_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "aggregate/overflow_memory.hpp"
#include "machine/zero_array.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::remote {

class call_credits {
public:
  /// Gives a message with a call to `node` to the port of the calling worker.
  using sender = void (*)(detail::worker_base&, std::uint32_t node, std::span<const std::uint64_t>);

  call_credits(std::uint32_t nodes, std::uint64_t bytes_for_all, aggregate::overflow_memory& overflow);
  call_credits(const call_credits&) = delete;
  call_credits& operator=(const call_credits&) = delete;
  ~call_credits();

  /// What a call of so many words takes, there and here.
  static constexpr std::uint64_t cost(std::size_t words) noexcept { return k_words_of_task + words; }

  /// Sends the call as soon as there is credit: `with` may run later, on another worker, as a handler.
  void send(detail::worker_base& w, std::uint32_t node, std::span<const std::uint64_t> call, sender with);
  /// Credit has come back from `node`: sends what waits. On any worker, in a task or a handler.
  void give(detail::worker_base& w, std::uint32_t node, std::uint64_t words, sender with) noexcept;
  /// A call of `node` begins here. Not 0: so much credit must be given back to that node now.
  std::uint64_t begun(std::uint32_t node, std::uint64_t cost) noexcept;

  std::uint64_t window_words() const noexcept { return window_; }
  /// Words of credit taken and not given back.
  std::uint64_t outstanding(std::uint32_t node) const noexcept;

private:
  struct account;
  struct kept_call;
  struct held_task;
  static constexpr std::uint64_t k_words_of_task = 16;
  static constexpr std::uint64_t k_least_window = 8192;  // some calls of the longest kind
  static constexpr std::uint64_t k_returns = 8;          // of a window

  account& of(std::uint32_t node);
  void keep(account& a, std::uint32_t node, std::span<const std::uint64_t> call);

  aggregate::overflow_memory& overflow_;
  const std::uint64_t window_;
  const std::uint32_t nodes_;
  machine::zero_array<std::atomic<account*>> accounts_;  // by node, from the first call on. Partners: of() elsewhere
  machine::zero_array<std::atomic<std::uint64_t>> to_return_;  // by node: begun here and not given back
};

}  // namespace shoal::remote
