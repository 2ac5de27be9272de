// SPDX-License-Identifier: Apache-2.0
// The tasks of one worker that waited and can go on, first come first served: a growing ring of pointers rather than a
// list through the stacks, so that the next ones' stacks can be prefetched.
// Who may call: its worker. Never switches tasks. Grows to the most that were ever ready at once.
// Shown by tests/unit/sched/ready_queue_test.cpp.
#pragma once

#include <cstddef>
#include <memory>

#include "fiber/fiber.hpp"

namespace shoal::sched {

class ready_queue {
public:
  bool empty() const noexcept { return first_ == last_; }
  std::size_t size() const noexcept { return last_ - first_; }

  void push(fiber::fiber* f) {
    if (last_ - first_ > mask_) [[unlikely]]
      grow();
    ring_[last_++ & mask_] = f;
  }

  fiber::fiber* pop() noexcept {
    fiber::fiber* f = ring_[first_++ & mask_];
    // Thousands of stacks fit neither into a cache nor into the TLB: fetch the descriptor of a later one, and the frames of
    // one whose descriptor has arrived (the registers that the switch left, and the task's frames above them).
    const std::size_t ready = last_ - first_;
    if (ready > k_descriptor_ahead) __builtin_prefetch(ring_[(first_ + k_descriptor_ahead) & mask_], 1);
    if (ready > k_frames_ahead) {
      const auto* frame = static_cast<const std::byte*>(ring_[(first_ + k_frames_ahead) & mask_]->context);
      for (std::size_t line = 0; line < k_frame_lines; ++line) __builtin_prefetch(frame + line * 64, 1);
    }
    return f;
  }

private:
  static constexpr std::size_t k_descriptor_ahead = 10;
  static constexpr std::size_t k_frames_ahead = 4;
  static constexpr std::size_t k_frame_lines = 6;

  [[gnu::noinline, gnu::cold]] void grow() {
    const std::size_t count = last_ - first_;
    const std::size_t capacity = 2 * (mask_ + 1);
    auto larger = std::make_unique<fiber::fiber*[]>(capacity);
    for (std::size_t i = 0; i < count; ++i) larger[i] = ring_[(first_ + i) & mask_];
    ring_ = std::move(larger);
    mask_ = capacity - 1;
    first_ = 0;
    last_ = count;
  }

  static constexpr std::size_t k_initial = 256;
  std::unique_ptr<fiber::fiber*[]> ring_ = std::make_unique<fiber::fiber*[]>(k_initial);
  std::size_t mask_ = k_initial - 1;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
};

}  // namespace shoal::sched
