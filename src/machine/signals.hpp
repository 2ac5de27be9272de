// SPDX-License-Identifier: Apache-2.0
// Signals: stacks for their handlers, a hook for faults, and interruption (Ctrl-C) as a readable descriptor.
// Who may call: install at set-up from any thread; an alternate_stack belongs to the thread that made it. What a hook
// calls must be async-signal-safe: signal_line is. Never switches tasks. Guarantees: a fault hook runs on the faulting
// thread's alternate stack (if it made one), before whatever was installed earlier or the default action, which then
// still happens: a hook explains a fault, it does not survive it. The first SIGINT or SIGTERM makes
// interruption::descriptor() readable; a second one of the same kind ends the process at once. Handlers are
// process-wide by nature: at most one hook and one interruption at a time. Shown by
// tests/unit/machine/signals_test.cpp.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "machine/mapping.hpp"

namespace shoal::machine {

/// Memory for a stack of signal handlers, with a guard below it. Any thread may make it, for another to use.
class handler_stack {
public:
  handler_stack();

  std::byte* data() const noexcept;
  /// At least 64 KiB above what the kernel puts there: a frame with AVX-512 or AMX state alone takes 3 to 11 KiB.
  std::size_t size_bytes() const noexcept;

private:
  mapping mapping_;
};

/// Has the signal handlers of the calling thread run on `memory`, which must live longer; gives the earlier stack back
/// at its end.
class alternate_stack {
public:
  explicit alternate_stack(const handler_stack& memory) noexcept;
  ~alternate_stack();
  alternate_stack(const alternate_stack&) = delete;
  alternate_stack& operator=(const alternate_stack&) = delete;

  /// False if the system refused: handlers then run on the thread's own stack.
  bool in_use() const noexcept { return in_use_; }

private:
  const std::byte* bottom_;
  stack_t earlier_{};
  bool in_use_;
};

/// Called with the address whose access failed and the ucontext_t of the failing instruction.
using fault_hook = void (*)(void* address, void* context);

/// SIGSEGV and SIGBUS go through `hook` from now on; nullptr gives the earlier actions back.
void set_fault_hook(fault_hook hook);

/// Whether the access that failed was near the stack pointer, as when a stack has no room left.
bool is_at_stack_end(const void* address, const void* context) noexcept;

/// The address of the instruction that failed.
const void* failed_instruction(const void* context) noexcept;

/// A line of text put together and written to standard error without allocating, locking or touching errno.
class signal_line {
public:
  signal_line& text(std::string_view part) noexcept;
  signal_line& decimal(std::int64_t value) noexcept;
  signal_line& hexadecimal(std::uint64_t value) noexcept;
  /// Adds a line feed and writes; the object is empty afterwards.
  void write(int descriptor = 2) noexcept;

private:
  std::array<char, 1024> text_;  // what is longer is cut
  std::size_t length_ = 0;
};

class interruption {
public:
  interruption();
  ~interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;

  /// Readable once a signal has come (see wait_any).
  int descriptor() const noexcept { return descriptor_; }
  /// The signal that came first, or 0.
  int signal() const noexcept;

private:
  int descriptor_ = -1;
  struct sigaction earlier_interrupt_ {};
  struct sigaction earlier_terminate_ {};
};

}  // namespace shoal::machine
