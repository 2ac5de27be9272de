// SPDX-License-Identifier: Apache-2.0
// The runnable tasks of a worker that have waited, first come, first served, each with the word that it waited for. A
// growing ring, not a list through the stacks: a stack is not touched before its turn, and the next ones are
// prefetched.
// Who may call: its worker. Never switches tasks. Grows to the largest number of tasks that were runnable together.
// Tests: tests/unit/sched/ready_queue_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "fiber/fiber.hpp"

namespace shoal {
struct debug_offsets;
}  // namespace shoal

namespace shoal::sched {

class ready_queue {
public:
  bool empty() const noexcept { return first_ == last_; }
  std::size_t size() const noexcept { return last_ - first_; }

  struct entry {
    fiber::fiber* fiber;
    std::uint64_t word;
  };

  void push(fiber::fiber* f, std::uint64_t word = 0) {
    if (last_ - first_ > mask_) [[unlikely]]
      grow();
    ring_[last_++ & mask_] = {f, word};
  }

  /// It is popped next.
  void push_front(fiber::fiber* f) {
    if (last_ - first_ > mask_) [[unlikely]]
      grow();
    ring_[--first_ & mask_] = {f, 0};
  }

  entry pop() noexcept {
    if (last_ - first_ >= k_worth_it && fetched_ < first_ + k_nearest) fetch_ahead();
    return ring_[first_++ & mask_];
  }

private:
  friend struct shoal::debug_offsets;            // of sched/debug_layout.cpp
  static constexpr std::size_t k_worth_it = 32;  // fewer stacks stay in the caches anyway
  static constexpr std::size_t k_nearest = 8;
  static constexpr std::size_t k_batch = 16;
  static constexpr std::size_t k_frame_lines = 5;

  // Thousands of stacks fit neither into a cache nor into the TLB, and a prefetch that misses the TLB holds up what
  // comes after it: so it is done for many at a time, in a loop short enough for their page walks to overlap.
  void fetch_ahead() noexcept {
    const std::size_t end = std::min(last_, first_ + k_nearest + k_batch);
    for (std::size_t i = std::max(fetched_, first_); i < end; ++i) {
      // The registers that the switch left, and the task's frames above them.
      const auto* frame = static_cast<const std::byte*>(ring_[i & mask_].fiber->context);
      for (std::size_t line = 0; line < k_frame_lines; ++line) __builtin_prefetch(frame + line * 64, 1);
    }
    fetched_ = end;
  }

  [[gnu::noinline, gnu::cold]] void grow() {
    const std::size_t count = last_ - first_;
    const std::size_t capacity = 2 * (mask_ + 1);
    auto larger = std::make_unique<entry[]>(capacity);
    for (std::size_t i = 0; i < count; ++i) larger[i] = ring_[(first_ + i) & mask_];
    ring_ = std::move(larger);
    mask_ = capacity - 1;
    fetched_ = k_start + fetched_ - std::min(fetched_, first_);
    first_ = k_start;
    last_ = k_start + count;
  }

  static constexpr std::size_t k_initial = 256;
  static constexpr std::size_t k_start = std::size_t{1} << 40;  // far from 0, since push_front counts down
  std::unique_ptr<entry[]> ring_ = std::make_unique<entry[]>(k_initial);
  std::size_t mask_ = k_initial - 1;
  std::size_t first_ = k_start;
  std::size_t last_ = k_start;
  std::size_t fetched_ = k_start;  // up to here stacks have been prefetched
};

}  // namespace shoal::sched
