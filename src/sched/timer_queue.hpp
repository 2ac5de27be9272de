// SPDX-License-Identifier: Apache-2.0
// The timers of one worker, the earliest first: tasks that sleep, limits of waits. A heap of the due times, whose entries
// lie together: the timers themselves, on the stacks of waiting tasks, are touched only when they are added, fire or end.
// Who may call: the worker's own thread. Never switches tasks.
// Guarantees: add() is O(log n) and may throw std::bad_alloc, then nothing has changed; remove() is O(log n); the others
// are O(1). Equal times fire in any order. A timer must stay where it is while it is pending.
// Tests: tests/unit/sched/timer_queue_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace shoal::sched {

struct timer {
  using function = void (*)(timer&) noexcept;
  explicit timer(function f) noexcept : fire(f) {}
  timer(const timer&) = delete;
  timer& operator=(const timer&) = delete;

  bool pending() const noexcept { return slot != k_none; }

  static constexpr std::uint32_t k_none = std::numeric_limits<std::uint32_t>::max();
  function fire;  // called once, on the worker's thread, when the time has come; must not wait; may add timers
  std::uint32_t slot = k_none;
};

class timer_queue {
public:
  static constexpr std::uint64_t k_never = std::numeric_limits<std::uint64_t>::max();

  void add(timer& t, std::uint64_t due_ns) {
    if (free_ == timer::k_none) grow();
    const std::uint32_t slot = free_;
    free_ = slots_[slot].at;
    slots_[slot].of = &t;
    t.slot = slot;
    heap_.push_back({due_ns, slot});  // grow() has made room
    rise(heap_.size() - 1);
  }
  /// Ends a timer that is pending.
  void remove(timer& t) noexcept {
    const std::size_t at = slots_[t.slot].at;
    release(t.slot);
    const entry last = heap_.back();
    heap_.pop_back();
    if (at == heap_.size()) return;
    put(at, last);
    rise(at);
    sink(slots_[last.slot].at);
  }

  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  /// When the first one is due; k_never if there is none.
  std::uint64_t earliest_ns() const noexcept { return heap_.empty() ? k_never : heap_.front().due_ns; }
  /// Takes out one that is due; nullptr: there is none.
  timer* take_due(std::uint64_t now_ns) noexcept {
    if (heap_.empty() || heap_.front().due_ns > now_ns) return nullptr;
    timer* const t = slots_[heap_.front().slot].of;
    remove(*t);
    return t;
  }

private:
  struct entry {
    std::uint64_t due_ns;
    std::uint32_t slot;
  };
  struct place {
    timer* of = nullptr;
    std::uint32_t at = timer::k_none;  // in the heap; of a free slot: the next free one
  };
  static constexpr std::size_t k_children = 4;

  void grow() {
    const auto slot = static_cast<std::uint32_t>(slots_.size());
    heap_.reserve(std::max<std::size_t>(heap_.capacity() == slot ? 2 * slot : 0, slot + 1));
    slots_.emplace_back();
    free_ = slot;
  }
  void release(std::uint32_t slot) noexcept {
    slots_[slot].of->slot = timer::k_none;
    slots_[slot] = {nullptr, free_};
    free_ = slot;
  }
  void put(std::size_t at, entry e) noexcept {
    heap_[at] = e;
    slots_[e.slot].at = static_cast<std::uint32_t>(at);
  }
  void rise(std::size_t at) noexcept {
    const entry e = heap_[at];
    for (; at > 0; at = (at - 1) / k_children) {
      const std::size_t parent = (at - 1) / k_children;
      if (heap_[parent].due_ns <= e.due_ns) break;
      put(at, heap_[parent]);
    }
    put(at, e);
  }
  void sink(std::size_t at) noexcept {
    const entry e = heap_[at];
    for (;;) {
      const std::size_t first = at * k_children + 1;
      if (first >= heap_.size()) break;
      std::size_t least = first;
      for (std::size_t c = first + 1; c < std::min(first + k_children, heap_.size()); ++c)
        if (heap_[c].due_ns < heap_[least].due_ns) least = c;
      if (e.due_ns <= heap_[least].due_ns) break;
      put(at, heap_[least]);
      at = least;
    }
    put(at, e);
  }

  std::vector<entry> heap_;
  std::vector<place> slots_;
  std::uint32_t free_ = timer::k_none;
};

}  // namespace shoal::sched
