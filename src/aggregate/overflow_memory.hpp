// SPDX-License-Identifier: Apache-2.0
// How much of a node's memory holds what could not be sent yet and must not wait: commands of handlers, and calls of
// nested tasks. One per node, with one limit for both.
// Who may call: any worker of the node. Nothing waits or switches.
// Guarantees: the bytes taken never exceed the limit; after the last command has left, one caller of take_end() sees that
// it has, and who is told by that caller sees it too.
// Tests: tests/model/overflow_memory_test.cpp, tests/unit/aggregate/overflow_outbox_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::aggregate {

template <class Atomics = lockfree::std_atomics>
class basic_overflow_memory {
public:
  enum class use : std::uint8_t { commands, calls };

  explicit basic_overflow_memory(std::uint64_t limit_bytes) : limit_(limit_bytes) {}
  basic_overflow_memory(const basic_overflow_memory&) = delete;
  basic_overflow_memory& operator=(const basic_overflow_memory&) = delete;

  /// False: the limit does not allow it, and nothing was taken.
  bool take(use what, std::uint64_t bytes) {
    const std::uint64_t before = used_.fetch_add(bytes, std::memory_order_relaxed);
    if (before + bytes > limit_) {
      used_.fetch_sub(bytes, std::memory_order_relaxed);
      return false;
    }
    if (what == use::commands) commands_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
  }
  void give_back(use what, std::uint64_t bytes) {
    used_.fetch_sub(bytes, std::memory_order_relaxed);
    if (what != use::commands) return;
    // An exchange, so that who takes the end knows of all ends before, also if the notes come in another order.
    if (commands_.fetch_sub(bytes, std::memory_order_relaxed) == bytes)
      ended_.exchange(true, std::memory_order_release);
  }

  /// Commands of handlers wait here: tasks of this node write no commands to other nodes.
  bool holds_tasks() const { return commands_.load(std::memory_order_relaxed) != 0; }
  /// So many that the node executes only what handlers have sent, and no more of what tasks of other nodes send.
  bool holds_requests() const { return commands_.load(std::memory_order_relaxed) > limit_ / 2; }
  /// No commands wait here any more, and workers whose tasks wait for this may be asleep.
  bool has_ended() const { return ended_.load(std::memory_order_relaxed); }
  /// True for one caller, which rings them.
  bool take_end() { return ended_.exchange(false, std::memory_order_acquire); }
  std::uint64_t limit_bytes() const { return limit_; }
  std::uint64_t used_bytes() const { return used_.load(std::memory_order_relaxed); }

private:
  template <class T>
  using atomic = typename Atomics::template atomic<T>;

  const std::uint64_t limit_;
  alignas(64) atomic<std::uint64_t> commands_{0};  // partners: the node's workers, which read it at each poll
  atomic<bool> ended_{false};  // partners: give_back(), which follows the change of commands_, and take_end()
  alignas(64) atomic<std::uint64_t> used_{0};
};

using overflow_memory = basic_overflow_memory<>;

}  // namespace shoal::aggregate
