// SPDX-License-Identifier: Apache-2.0
// A worker's stock of fibers that stand on stacks of a stack_region.
// Who may call: only its worker. It switches no tasks.
// Guarantees: the stack given back last is taken first. A stack that waits in its first page takes that page. What is
// deeper is given back by samples and when idle; stacks that stay unused are given back by tend(), while the worker is
// busy, too. The tops of stacks are staggered by cache lines, or they would share a few sets of the caches.
// Shown by tests/unit/fiber/stack_pool_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fiber/fiber.hpp"
#include "fiber/sanitizer.hpp"
#include "fiber/stack_region.hpp"

namespace shoal {
struct debug_offsets;
}  // namespace shoal

namespace shoal::fiber {

class stack_pool {
public:
  /// `size_class` is noted in each fiber: it leads from a fiber's stack to its region.
  stack_pool(stack_region& region, void* owner, entry_function entry, std::uint8_t size_class = 0) noexcept;
  stack_pool(const stack_pool&) = delete;
  stack_pool& operator=(const stack_pool&) = delete;
  ~stack_pool();

  /// A fiber suspended in its loop, or a fresh one; nullptr if the region is used up or the system refuses.
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
    release_to(f->notes);  // for TSan: another fiber may be made on this stack. Partner: the entry functions
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

  /// Gives back stacks that have stayed unused for a while, at most `most` of them. To be called now and then by a
  /// worker that is busy. A stack is unused if it is beyond the most that were taken at k_looks_per_window calls in a
  /// row; some are always kept, so that a stock that is used in turns does not come and go.
  void tend(std::size_t most) noexcept {
    lowest_idle_ = idle_ < lowest_idle_ ? idle_ : lowest_idle_;
    if (++looks_ < k_looks_per_window && surplus_ == 0) [[likely]]
      return;
    give_back_surplus(most);
  }
  /// How many idle stacks tend() leaves: fewer of large ones, which may be deep.
  std::size_t kept() const noexcept { return kept_; }

  /// Calls `each` with every fiber that was ever made here, those of the free list too. What lies in one that was
  /// trimmed is as it was then.
  template <class Each>
  void visit(const Each& each) const {
    for (const std::size_t first : leases_) {
      const std::size_t end = first + region_.stacks_per_lease();
      for (std::size_t s = first; s < (end == fresh_end_ ? fresh_ : end); ++s)
        each(*static_cast<const fiber*>(region_.fiber_place(s)));
    }
  }

  /// Whether there are stacks here without a guard.
  bool unguarded() const noexcept { return unguarded_; }

private:
  friend struct shoal::debug_offsets;  // of sched/debug_layout.cpp
  // Depth is not measured at each use: one stack in so many is looked at, by giving back what it may have.
  static constexpr unsigned k_puts_per_look = 256;
  static constexpr unsigned k_looks_per_window = 16;
  static constexpr std::size_t k_most_kept = 256;
  static constexpr std::size_t k_most_kept_bytes = std::size_t{16} << 20;

  fiber* make() noexcept;
  fiber* place(std::size_t stack) noexcept;
  std::size_t take_number();
  void give_back_depth(const fiber& f) noexcept;
  void give_back_surplus(std::size_t most) noexcept;

  stack_region& region_;
  void* owner_;
  entry_function entry_;
  fiber* free_ = nullptr;
  std::size_t idle_ = 0;
  std::size_t in_use_ = 0;
  unsigned puts_ = 0;
  unsigned puts_shrunk_ = 0;  // as many as there were at the last shrink()
  const std::size_t kept_;
  unsigned looks_ = 0;           // in this window
  std::size_t lowest_idle_ = 0;  // at any look of this window
  std::size_t surplus_ = 0;      // stacks that the last window did not need, and that are to be given back
  const std::uint8_t size_class_;
  bool unguarded_ = false;                     // some stacks have no guard
  bool refused_ = false;                       // the system refused memory, and this has been logged
  std::size_t leased_ = stack_region::k_none;  // not committed yet
  std::size_t fresh_ = 0;                      // committed stacks from here on have not been used
  std::size_t fresh_end_ = 0;
  std::vector<std::size_t> leases_;   // committed, by their first stack
  std::vector<std::size_t> trimmed_;  // stacks without a fiber that were used and have a guard
};

}  // namespace shoal::fiber
