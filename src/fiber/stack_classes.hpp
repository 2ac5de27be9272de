// SPDX-License-Identifier: Apache-2.0
// Stacks for tasks that need a certain size: one stack_region per size class, made on demand.
// Who may call: any thread. region() may wait for a system call; find() is async-signal-safe. Switches no tasks.
// Guarantees: a class has at least its nominal size, and one page more for the notes at the top of a stack and the
// frames of the scheduler. Tests: tests/unit/fiber/stack_region_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "fiber/stack_region.hpp"

namespace shoal::fiber {

class stack_classes {
public:
  static constexpr unsigned k_classes = 6;  // 64 KiB, 256 KiB, 1 MiB, 4 MiB, 16 MiB, 64 MiB
  static constexpr std::size_t bytes_of(unsigned size_class) noexcept {
    return std::size_t{64} << 10 << (2 * size_class);
  }
  static constexpr std::size_t k_most_bytes = std::size_t{64} << 20;
  /// The smallest class that holds `bytes`, which is at most k_most_bytes.
  static unsigned class_of(std::size_t bytes) noexcept;

  stack_classes(std::size_t most_stacks, guard_kind best, machine::page_plan pages = {}) noexcept
      : most_stacks_(most_stacks), best_(best), pages_(std::move(pages)) {}

  /// Throws when the system refuses the address space.
  stack_region& region(unsigned size_class);
  /// The region that `address` lies in and its stack there, as stack_region::find(); nullptr: none.
  const stack_region* find(const void* address, std::size_t* stack) const noexcept;

  /// each(const stack_region&) for those that have been asked for. Any thread.
  template <class Each>
  void visit(const Each& each) const {
    for (const auto& one : made_)
      if (const stack_region* const made = one.load(std::memory_order_acquire); made != nullptr) each(*made);
  }

private:
  friend struct shoal::debug_offsets;  // of sched/debug_layout.cpp
  const std::size_t most_stacks_;
  const guard_kind best_;
  const machine::page_plan pages_;
  std::mutex making_;
  std::array<std::unique_ptr<stack_region>, k_classes> regions_;
  // nullptr: not asked for yet. Partners: region(), which stores with release order, and find().
  std::array<std::atomic<stack_region*>, k_classes> made_{};
};

static_assert(stack_classes::bytes_of(stack_classes::k_classes - 1) == stack_classes::k_most_bytes);

}  // namespace shoal::fiber
