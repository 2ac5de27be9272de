// SPDX-License-Identifier: Apache-2.0
// A stack with everything needed to continue on it: the unit that a worker switches between. It adds to context.hpp the
// C++ exception state, which belongs to the stack and not to the thread: a task may wait inside a catch block or a
// destructor.
// Who may call: only the worker that owns the fiber; a fiber changes its thread only with its task, if that is movable. switch_to() is the switch.
// Guarantees: after a switch back the program's state is as before (registers, rounding mode, exceptions in flight).
// Not kept here: signal masks; errno, which the worker keeps. Tests: tests/unit/fiber/fiber_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fiber/context.hpp"
#include "fiber/sanitizer.hpp"
#include "lockfree/inbox.hpp"

namespace shoal::fiber {

/// The part of libstdc++'s and libc++abi's per-thread exception state that belongs to a stack (Itanium C++ ABI 2.2.2).
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

/// Where this thread keeps its exception state. Ask once per thread; the address never changes.
exception_state* exception_state_of_this_thread() noexcept;

struct fiber;

/// What the scheduler has begun on a stack and not ended, innermost first; which is its own affair.
struct filling {
  filling* outer = nullptr;
};

/// What is known of a stack but not needed to switch to it; lies at its top, where it stays readable however the fiber
/// is used, and even when the stack's pages have been given back: it is all zeros then. For a stack that the pool did
/// not make, its worker has it.
struct alignas(64) stack_notes {
  std::byte* bottom = nullptr;  // lowest byte that may be used; nullptr: a stack that the pool did not make
  void* running = nullptr;      // the scheduler's account of what its loop on this stack has begun last
  fiber* of = nullptr;
  filling* fills = nullptr;  // results that tasks on this stack are to give

  // A wait for a result, written by the stack that waits and, as to the edge, by whoever ends the wait or is found to
  // be waited for; read by whoever looks for a cycle of waits (src/sched/cycle_search.hpp).
  static constexpr std::uintptr_t k_no_edge = 0;
  static bool is_open(std::uintptr_t edge) noexcept { return edge % 2 == 1; }

  /// Before the wait can be seen; `wait` is a number that no other wait of the worker has.
  std::uintptr_t open_wait(std::uint64_t wait) noexcept {
    // Others set the mark meanwhile; only this stack changes the number.
    const std::uint64_t before = waits.load(std::memory_order_relaxed) & ~k_awaited;
    waits.fetch_add(2 * wait - before, std::memory_order_seq_cst);
    const std::uintptr_t open = 2 * static_cast<std::uintptr_t>(wait) + 1;
    waits_for.store(open, std::memory_order_seq_cst);
    return open;
  }
  void close_wait() noexcept { waits_for.store(k_no_edge, std::memory_order_seq_cst); }
  std::uint64_t wait_number() const noexcept { return waits.load(std::memory_order_seq_cst) & ~k_awaited; }

  /// Somebody may wait for what this stack is to fill. Marked before the edge is drawn.
  bool is_awaited() const noexcept { return (waits.load(std::memory_order_seq_cst) & k_awaited) != 0; }
  void mark_awaited() noexcept {
    if (!is_awaited()) waits.fetch_or(k_awaited, std::memory_order_seq_cst);
  }
  /// The stack itself, when it has nothing to fill any more.
  void forget_awaited() noexcept {
    if ((waits.load(std::memory_order_relaxed) & k_awaited) != 0) [[unlikely]]
      waits.fetch_and(~k_awaited, std::memory_order_relaxed);
  }

  /// A wait for what the task of another stack holds; the stack that waits. Anybody reads it, as a hint: it may be any
  /// value if the stack begins another wait meanwhile (pool::owns() tells).
  void wait_for_holder(const void* holder) noexcept {
    awaited_number.store(reinterpret_cast<std::uintptr_t>(holder), std::memory_order_relaxed);
    awaited_name.store(k_holder, std::memory_order_release);
  }
  void forget_holder() noexcept { awaited_name.store(nullptr, std::memory_order_relaxed); }
  const stack_notes* holder() const noexcept {
    if (awaited_name.load(std::memory_order_acquire) != k_holder) return nullptr;
    return reinterpret_cast<const stack_notes*>(awaited_number.load(std::memory_order_relaxed));
  }

  static constexpr std::uint64_t k_awaited = 1;
  static constexpr char k_holder[] = "";  // as awaited_name: awaited_number is the stack of a holder

  std::atomic<std::uintptr_t> waits_for{k_no_edge};  // the notes of another stack, or open: not known which
  std::atomic<std::uint64_t> waits{0};               // twice the number of the last wait, and the mark
  std::atomic<const char*> awaited_name{nullptr};
  std::atomic<std::uint64_t> awaited_number{0};
};
static_assert(sizeof(stack_notes) == 64);

/// What a task that has left waits for; on its own stack. Read by whoever alone may continue the task at that time.
struct wait_note {
  const void* object;
  std::uint64_t since;  // of base::rough_time, about
};

/// One cache line.
struct alignas(64) fiber : lockfree::inbox_node<> {
  fiber_context context = nullptr;  // where it continues; valid while it is not running
  exception_state exceptions;
  void* owner = nullptr;  // the worker, for threads that wake the task
  union {
    fiber* next_free = nullptr;  // in the pool
    const wait_note* wait;       // while waits_as is not 0
  };
  stack_notes* notes = nullptr;
  std::uint32_t stack = 0;      // its number in the region
  std::uint8_t size_class = 0;  // of its stack: which region the number belongs to
  std::uint8_t waits_as = 0;    // the kind of the wait (detail::wait_kind); 0: it does not wait, or can go on
  bool outermost = false;       // what runs here is no part of a loop: a loop that it begins may be held back
  [[no_unique_address]] shadow sanitizer;
};
#if !SHOAL_TSAN && !SHOAL_ASAN
static_assert(sizeof(fiber) == 64);
#endif

/// Makes `f` ready to run `entry` on the stack [bottom, top), its notes at the top. `entry` must call arrived() first,
/// and never returns. It begins with the rounding modes that programs begin with. `top` is aligned as the notes are.
void prepare(fiber& f, std::byte* bottom, std::byte* top, entry_function entry) noexcept;

/// Takes the calling thread's own stack as a fiber.
void adopt_thread(fiber& f, stack_notes& notes) noexcept;
/// Forgets what the sanitizers know about a fiber; before its stack goes.
void forget(fiber& f) noexcept;

/// Before a switch from a fiber that may be on another stack than its own (a simulated thread whose worker runs a task):
/// the address sanitizer says at the arrival which stack was left.
inline void forget_bounds([[maybe_unused]] fiber& f) noexcept {
#if SHOAL_ASAN
  f.sanitizer.bottom = nullptr;
#endif
}

namespace detail {
void before_switch(fiber& from, fiber& to) noexcept;
void after_switch(fiber& to) noexcept;
}  // namespace detail

/// To be called first thing on a fresh fiber.
inline void arrived([[maybe_unused]] fiber& self) noexcept {
#if SHOAL_ASAN
  detail::after_switch(self);
#endif
}

/// Switches from `from`, the running fiber, to `to`. Returns when another fiber switches back to `from`.
SHOAL_NO_TSAN inline void switch_to(fiber& from, fiber& to, exception_state& exceptions) noexcept {
  from.exceptions = exceptions;
  exceptions = to.exceptions;
#if SHOAL_TSAN || SHOAL_ASAN
  detail::before_switch(from, to);
#endif
  switch_context(from.context, to.context);
#if SHOAL_ASAN
  detail::after_switch(from);
#endif
}

}  // namespace shoal::fiber
