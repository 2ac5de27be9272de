// SPDX-License-Identifier: Apache-2.0
// A ring of buffers from one thread to another, each with space for a reply; the batched loops use it as their network.
// The issuer fills buffer k and publishes it. The server executes it, may write a reply beside it, and marks it served.
// Then the issuer uses the slot again. Only two counters are shared; each has one writer.
// Who may call: one issuing and one serving thread. Never blocks: the loops poll, and yield if there is nothing.
// Test: tests/unit/bench/limits_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/micro/limits/table.hpp"

namespace shoal::bench::limits {

/// Calls execute(i) for all i below count, and ahead(i) `distance` steps before: the server's prefetching.
template <class Ahead, class Execute>
inline void pipelined(std::size_t count, std::size_t distance, Ahead ahead, Execute execute) {
  std::size_t start = std::min(count, distance);
  for (std::size_t i = 0; i < start; ++i) ahead(i);
  std::size_t i = 0;
  for (; i + start < count; ++i) {
    ahead(i + start);
    execute(i);
  }
  for (; i < count; ++i) execute(i);
}

template <class Command, class Answer>
class channel {
public:
  channel(std::size_t buffers, std::size_t commands, std::size_t padding = 0)
      : buffers_(buffers),
        commands_(commands),
        stride_(lines(commands * sizeof(Command)) + lines((commands + padding) * sizeof(Answer))),
        memory_(stride_ * buffers),
        counts_(buffers) {}

  std::size_t capacity() const { return commands_; }

  // The issuer's side.
  bool has_room() {
    if (issued_ - served_seen_ < buffers_) return true;
    served_seen_ = served_.load(std::memory_order_acquire);  // partner: serve_done
    return issued_ - served_seen_ < buffers_;
  }
  /// Whether the buffer `number` has been served.
  bool answered(std::uint64_t number) {
    if (number < served_seen_) return true;
    served_seen_ = served_.load(std::memory_order_acquire);  // partner: serve_done
    return number < served_seen_;
  }
  Command* to_fill() { return commands(issued_); }
  void publish(std::size_t count) {
    counts_[issued_ % buffers_] = count;
    ++issued_;
    issued_shared_.store(issued_, std::memory_order_release);  // partner: to_serve
  }
  std::uint64_t issued() const { return issued_; }
  void close() { closed_.store(true, std::memory_order_release); }  // partner: finished

  // The server's side.
  bool to_serve() {
    if (done_ < issued_seen_) return true;
    issued_seen_ = issued_shared_.load(std::memory_order_acquire);  // partner: publish
    return done_ < issued_seen_;
  }
  const Command* request() const { return commands(done_); }
  Answer* answer() const { return answers(done_); }
  std::size_t request_count() const { return counts_[done_ % buffers_]; }
  void serve_done() {
    ++done_;
    served_.store(done_, std::memory_order_release);  // partner: has_room, answered
  }
  /// Whether the issuer has closed and everything is served.
  bool finished() { return closed_.load(std::memory_order_acquire) && !to_serve(); }  // partner: close

  Command* commands(std::uint64_t number) const { return reinterpret_cast<Command*>(slot(number)); }
  Answer* answers(std::uint64_t number) const {
    return reinterpret_cast<Answer*>(slot(number) + lines(commands_ * sizeof(Command)));
  }
  std::size_t count(std::uint64_t number) const { return counts_[number % buffers_]; }

private:
  // One line more than needed between parts, so that slots do not all start in the same cache set.
  static std::size_t lines(std::size_t bytes) { return (bytes + 63) / 64 * 64 + 64; }
  char* slot(std::uint64_t number) const {
    return reinterpret_cast<char*>(memory_.data()) + (number % buffers_) * stride_;
  }

  std::size_t buffers_;
  std::size_t commands_;
  std::size_t stride_;
  machine::huge_buffer memory_;
  std::vector<std::size_t> counts_;  // written before publish, read after to_serve
  alignas(128) std::uint64_t issued_ = 0;
  std::uint64_t served_seen_ = 0;
  alignas(128) std::uint64_t done_ = 0;
  std::uint64_t issued_seen_ = 0;
  alignas(128) std::atomic<std::uint64_t> issued_shared_{0};
  std::atomic<bool> closed_{false};
  alignas(128) std::atomic<std::uint64_t> served_{0};
};

}  // namespace shoal::bench::limits
