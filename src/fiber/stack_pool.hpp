// SPDX-License-Identifier: Apache-2.0
// Stacks for tasks that wait. A stack_region is one reserved range per node, cut into stacks of one size, with no
// mapping of its own per stack; a stack_pool is a worker's stock of fibers on such stacks.
// Who may call: a stack_region any thread; a stack_pool only its worker. Neither switches tasks.
// Guarantees: a stack that was not used takes no memory; one that waits in its first page takes that page; what is
// deeper is given back by samples and when idle. Below each stack is a guard (see guard_kind); for a stack without one
// the scheduler compares the stack pointer at each wait. find() names the stack of an address, for the fault handler.
// Stacks begin an odd number of pages apart and their tops are staggered by lines: with powers of two they would share
// a few sets of the TLB and the caches. Fibers lie apart from their stacks, densely, so that thousands stay in the
// caches. Shown by tests/unit/fiber/stack_pool_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "fiber/fiber.hpp"
#include "machine/reserved_range.hpp"

namespace shoal::fiber {

/// What lies below a stack, the best first; a region goes on with the next kind where the system refuses one.
enum class guard_kind : std::uint8_t {
  marked,  // MADV_GUARD_INSTALL, Linux 6.13
  mapped,  // pages that nobody may access: two mappings each, of which a process has few, so only for the first stacks
  none     // as much memory, which the overflow may use before it reaches another stack
};

/// How every message about a stack that was too small ends.
inline constexpr std::string_view k_stack_advice =
    "raise the setting stack, for instance SHOAL_STACK=1M, or keep large objects elsewhere";

class stack_region {
public:
  static constexpr std::size_t k_stacks_per_lease = 32;
  // Some 65000 mappings are what a process may have in all, and several nodes may live in it.
  static constexpr std::size_t k_most_mapped_guards = 2048;

  /// `most_stacks` is halved while the system refuses the address space, and once more when it does not, so that as
  /// much is left for threads and the heap; no less than `least_stacks`.
  stack_region(std::size_t stack_bytes, std::size_t most_stacks, std::size_t least_stacks,
               guard_kind best = guard_kind::marked);

  stack_region(const stack_region&) = delete;
  stack_region& operator=(const stack_region&) = delete;
  ~stack_region();

  static constexpr std::size_t k_none = ~std::size_t{0};

  /// The number of the first of k_stacks_per_lease fresh stacks; k_none when the region is used up.
  std::size_t lease() noexcept;
  /// Makes leased stacks usable. Throws when the system refuses; may be tried again.
  void commit(std::size_t first);

  /// The lowest byte that a stack may use; below it is the guard.
  std::byte* bottom(std::size_t stack) const noexcept { return range_.data() + stack * stride_bytes_ + guard_bytes_; }
  std::byte* top(std::size_t stack) const noexcept { return range_.data() + (stack + 1) * stride_bytes_; }
  /// Where the fiber of a leased stack lies.
  void* fiber_place(std::size_t stack) const noexcept {
    return range_.data() + fibers_offset() + stack * sizeof(fiber);
  }

  std::size_t stack_bytes() const noexcept { return stride_bytes_ - guard_bytes_; }
  std::size_t guard_bytes() const noexcept { return guard_bytes_; }
  std::size_t capacity() const noexcept { return capacity_; }
  /// Whether every stack that was committed so far has a guard.
  bool has_guards() const noexcept { return guards_.load(std::memory_order_relaxed) != guard_kind::none; }

  /// Whether `address` lies in the region; `stack` then gets the number of its stack, or of that whose guard it is in.
  bool find(const void* address, std::size_t* stack) const noexcept;

private:
  std::size_t fibers_offset() const noexcept { return capacity_ * stride_bytes_; }
  void guard(std::size_t stack) noexcept;
  void tell_valgrind(std::size_t stack);

  std::size_t guard_bytes_;
  std::size_t stride_bytes_;
  std::size_t capacity_ = 0;
  machine::reserved_range range_;       // the stacks, then their fibers
  std::atomic<std::size_t> leased_{0};  // partners: the other workers' leases
  std::atomic<guard_kind> guards_;      // what to try next; partners: the other workers' commits
  std::mutex guard_of_names_;
  std::vector<unsigned> names_for_valgrind_;  // of the stacks that it has been told of
};

class stack_pool {
public:
  stack_pool(stack_region& region, void* owner, entry_function entry) noexcept;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  /// A fiber that stands in its loop, or a fresh one; nullptr when the region is used up or the system refuses.
  fiber* take() noexcept {
    if (fiber* f = free_; f != nullptr) [[likely]] {
      free_ = f->next_free;
      --idle_;
      ++in_use_;
      return f;
    }
    return make();
  }

  /// Takes back a fiber that is about to stand in its loop with nothing on its stack but that.
  void put(fiber* f) noexcept {
    f->next_free = free_;
    free_ = f;
    ++idle_;
    --in_use_;
    if (++puts_ % k_puts_per_look == 0) [[unlikely]]
      give_back_depth(*f);
  }

  std::size_t in_use() const noexcept { return in_use_; }
  std::size_t idle() const noexcept { return idle_; }

  /// Gives the pages of idle stacks back to the system, all but those of `keep` stacks; at most `most` at once.
  void trim(std::size_t keep, std::size_t most) noexcept;
  /// Gives back what idle stacks hold beyond the pages that their loops stand in. A system call each.
  void shrink() noexcept;
  /// Whether shrink() may find anything.
  bool may_shrink() const noexcept { return puts_ != puts_shrunk_ && idle_ > 0; }

  /// Whether there are stacks here without a guard.
  bool unguarded() const noexcept { return unguarded_; }

private:
  // Depth is not measured at each use: one stack in so many is looked at, by giving back what it may have.
  static constexpr unsigned k_puts_per_look = 256;

  fiber* make() noexcept;
  fiber* place(std::size_t stack) noexcept;
  void give_back_depth(const fiber& f) noexcept;

  stack_region& region_;
  void* owner_;
  entry_function entry_;
  fiber* free_ = nullptr;
  std::size_t idle_ = 0;
  std::size_t in_use_ = 0;
  unsigned puts_ = 0;
  unsigned puts_shrunk_ = 0;                   // as many as there were at the last shrink()
  bool unguarded_ = false;                     // some stacks have no guard
  bool refused_ = false;                       // the system refused memory, and it has been said
  std::size_t leased_ = stack_region::k_none;  // not committed yet
  std::vector<std::size_t> bare_;              // stacks without a fiber: not used yet, or trimmed
};

}  // namespace shoal::fiber
