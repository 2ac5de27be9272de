// SPDX-License-Identifier: Apache-2.0
// A timer that interrupts one thread: a function is called in a signal handler on that thread, and says when next.
// Who may call: the thread that is interrupted makes and destroys it; all of a thread are destroyed together, because the
// end of one takes signals of the others. The function runs at any point of the thread's program, so it may only do what
// is async-signal-safe. System calls go on afterwards (SA_RESTART), but for sleeps and waits for descriptors, which end
// early with EINTR.
// Errors: shoal::error if the system has no timer left. Test: tests/unit/machine/thread_timer_test.cpp.
#pragma once

#include <cstdint>
#include <ctime>

namespace shoal::machine {

class thread_timer {
public:
  /// Gives the nanoseconds until the next call; 0: no more.
  using action = std::uint64_t (*)(void* data) noexcept;

  /// Of which time the nanoseconds are. The processor's passes while the thread runs, and is looked at by the kernel's
  /// tick only, so once in 1 to 10 ms.
  enum class time : std::uint8_t { world, processor };

  thread_timer(action act, void* data, std::uint64_t first_ns, time of = time::world);
  /// In a call: the code that it has interrupted.
  static const void* interrupted() noexcept;
  /// No call comes after it.
  ~thread_timer();
  thread_timer(const thread_timer&) = delete;
  thread_timer& operator=(const thread_timer&) = delete;

private:
  void arm(std::uint64_t ns) noexcept;
  friend void call_thread_timer(thread_timer& t) noexcept;

  action act_;
  void* data_;
  timer_t timer_{};
};

}  // namespace shoal::machine
