// SPDX-License-Identifier: Apache-2.0
// Address space for stacks of one size, shared by the workers of a node. It is reserved in segments, each twice as
// large as the one before, when the earlier segments are used up: a pool that needs few stacks reserves few. There is
// no mapping per stack.
// Who may call: any thread. lease(), commit() and guard() may wait for a system call; the others do not. find() is
// async-signal-safe. Nothing here switches tasks.
// Guarantees: a stack never moves; a stack that was not used takes no memory. Below each stack is a guard (see
// guard_kind); where a stack has none, the scheduler compares the stack pointer at each wait. Stacks begin an odd
// number of pages apart: with powers of two they would share a few sets of the TLB and the caches. Fibers lie apart
// from their stacks, densely, so that thousands stay in the caches. On large pages there are no guards, which would split
// them, and stacks lie close together, with a small page between: each takes its share of a large page as soon as a
// neighbour does, and keeps it. Shown by tests/unit/fiber/stack_region_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "fiber/fiber.hpp"
#include "machine/page_choice.hpp"
#include "machine/reserved_range.hpp"

namespace shoal {
struct debug_offsets;
}  // namespace shoal

namespace shoal::fiber {

/// The guard below a stack, the best first; a region uses the next kind where the system refuses one.
enum class guard_kind : std::uint8_t {
  marked,  // MADV_GUARD_INSTALL, Linux 6.13
  mapped,  // inaccessible pages: two mappings each, of which a process has few, so only for the first stacks
  none     // as much memory, which the overflow may use before it reaches another stack
};

struct stack_usage {
  std::size_t stacks = 0;           // leased so far, in use or not
  std::size_t committed_bytes = 0;  // of these
  std::size_t resident_bytes = 0;   // of these, in pages that are there now
  std::size_t huge_bytes = 0;       // of these, in pages of 2 MiB or more
  std::size_t reserved_bytes = 0;   // address space
};

/// How every message about a stack that was too small ends.
inline constexpr std::string_view k_stack_advice =
    "raise the setting stack, for instance SHOAL_STACK=1M, give the task a larger stack (shoal::stack_bytes), or keep "
    "large objects elsewhere";

/// The same for a stack of a requested size.
inline constexpr std::string_view k_sized_stack_advice =
    "ask for more with shoal::stack_bytes, at most 64 MiB, or keep large objects elsewhere";

class stack_region {
public:
  static constexpr std::size_t k_stacks_per_lease = 32;  // fewer of large stacks: see lease_size()
  // A process may have about 65000 mappings, and several nodes.
  static constexpr std::size_t k_most_mapped_guards = 2048;

  /// `most_stacks` is lowered to what a part of the address space holds, but not below `least_stacks`. Reserves the
  /// first segment, of `least_stacks`, of pool pages at least one of them; throws if the system refuses that.
  stack_region(std::size_t stack_bytes, std::size_t most_stacks, std::size_t least_stacks,
               guard_kind best = guard_kind::marked, const machine::page_plan& pages = {});

  stack_region(const stack_region&) = delete;
  stack_region& operator=(const stack_region&) = delete;
  ~stack_region();

  static constexpr std::size_t k_none = ~std::size_t{0};
  static constexpr std::size_t k_line_bytes = 64;
  // More lines than this would push a waiting task's frames out of the first page.
  static constexpr std::size_t k_stagger_lines = 16;

  /// The number of stacks of this size in one lease.
  static std::size_t lease_size(std::size_t stack_bytes) noexcept;
  std::size_t stacks_per_lease() const noexcept { return stacks_per_lease_; }

  /// The number of the first of stacks_per_lease() fresh stacks; k_none when the region is used up.
  std::size_t lease() noexcept;
  /// Makes leased stacks usable: reserves their segment if nobody has. Throws when the system refuses; may be tried
  /// again.
  void commit(std::size_t first);
  /// Puts a guard below a committed stack, once, before its first use.
  void guard(std::size_t stack) noexcept;

  /// The lowest byte that a committed stack may use; below it is the guard.
  std::byte* bottom(std::size_t stack) const noexcept { return top(stack) - stack_bytes(); }
  std::byte* top(std::size_t stack) const noexcept {
    const place at = locate(stack);
    return base_of(at.segment) + (at.index + 1) * stride_bytes_;
  }
  /// Where the frames of a fiber on a committed stack begin, below its notes: a few lines lower from stack to stack, so
  /// that the tops of many stacks do not share one set of the caches.
  std::byte* staggered_top(std::size_t stack) const noexcept {
    return top(stack) - (stack % k_stagger_lines) * k_line_bytes;
  }
  /// The storage of the fiber of a committed stack.
  void* fiber_place(std::size_t stack) const noexcept {
    const place at = locate(stack);
    return base_of(at.segment) + fibers_offset(at.segment) + at.index * sizeof(fiber);
  }

  std::size_t stack_bytes() const noexcept { return stride_bytes_ - guard_bytes_; }
  std::size_t guard_bytes() const noexcept { return guard_bytes_; }
  std::size_t capacity() const noexcept { return capacity_; }
  /// How much address space is reserved now.
  std::size_t reserved_bytes() const noexcept;
  /// Reads /proc/self/smaps: milliseconds. Any thread.
  stack_usage usage() const;
  /// Stacks keep their memory then: a part that is given back would split a large page.
  bool on_large_pages() const noexcept { return large_; }
  /// Whether every stack that was used so far has a guard.
  bool has_guards() const noexcept { return guards_.load(std::memory_order_relaxed) != guard_kind::none; }

  /// Whether `address` lies in the region; `stack` then gets the number of its stack, or of that whose guard it is in.
  bool find(const void* address, std::size_t* stack) const noexcept;
  /// Whether `address` is where the notes of a fiber on one of the stacks lie. Does not read it.
  bool is_place_of_notes(const void* address) const noexcept {
    std::size_t stack = 0;
    return find(address, &stack) && address == staggered_top(stack) - sizeof(stack_notes);
  }

private:
  friend struct shoal::debug_offsets;  // of sched/debug_layout.cpp
  static constexpr std::size_t k_most_segments = 40;
  // Segment k holds first_stacks_ * 2^k stacks, the last one what is left.
  struct place {
    std::size_t segment;
    std::size_t index;
  };

  place locate(std::size_t stack) const noexcept {
    const auto segment = static_cast<std::size_t>(std::bit_width(stack / first_stacks_ + 1)) - 1;
    return {segment, stack - begin_of(segment)};
  }
  std::size_t begin_of(std::size_t segment) const noexcept { return first_stacks_ * ((std::size_t{1} << segment) - 1); }
  std::size_t stacks_in(std::size_t segment) const noexcept;
  std::size_t fibers_offset(std::size_t segment) const noexcept { return stacks_in(segment) * stride_bytes_; }
  std::byte* base_of(std::size_t segment) const noexcept { return bases_[segment].load(std::memory_order_acquire); }
  void reserve(std::size_t segment);
  std::size_t range_bytes(std::size_t segment) const noexcept;
  void tell_valgrind(std::size_t stack);

  const bool large_;
  const std::size_t pool_page_bytes_;
  std::size_t guard_bytes_;
  std::size_t stride_bytes_;
  std::size_t stacks_per_lease_;
  std::size_t first_stacks_;
  std::size_t capacity_;
  std::mutex reserving_;
  std::array<machine::reserved_range, k_most_segments> ranges_;  // the stacks, then their fibers
  // nullptr: not reserved yet. Partners: reserve(), which stores with release order, and whoever looks up a stack.
  std::array<std::atomic<std::byte*>, k_most_segments> bases_{};
  std::atomic<std::size_t> leased_{0};  // partners: the other workers' leases
  std::atomic<guard_kind> guards_;      // the kind to try next; partners: the other workers' guards
  std::mutex guard_of_names_;
  std::vector<unsigned> names_for_valgrind_;  // of the registered stacks
};

}  // namespace shoal::fiber
