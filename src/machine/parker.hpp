// SPDX-License-Identifier: Apache-2.0
// Where one thread sleeps until another thread, or another process, has something for it: the parking protocol of a
// doorbell (lockfree/doorbell.hpp, where it is model-checked) joined with futex(2). The protocol is a parameter because
// its folder and this one do not see each other: parker<lockfree::doorbell<>>.
//   sleeper:  prepare();  if (work is there) cancel();  else park(timeout);       waker:  publish the work;  unpark();
// Who may call: prepare, cancel, park: the one thread that sleeps here; unpark: any thread. park() blocks the thread,
// never a task: nothing here switches tasks. Guarantees: work published before unpark() is seen by the sleeper's look
// after prepare(), or park() returns. park() may also return without work. unpark() with nobody asleep costs a fence
// and a load, no system call. Zeroed memory is a parker with nobody asleep; with shared = true it may lie in memory
// that several processes map. Shown by tests/unit/machine/parker_test.cpp.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/clock.hpp"
#include "machine/futex.hpp"

namespace shoal::machine {

template <class Bell>
class parker {
public:
  void prepare() noexcept { bell_.prepare(); }
  void cancel() noexcept { bell_.cancel(); }

  /// Sleeps until unpark() or the time limit; true if it was unpark(). Ends what prepare() began.
  bool park(std::int64_t timeout_ns = k_no_timeout, bool shared = false) noexcept {
    const std::uint64_t start_ns = timeout_ns < 0 ? 0 : base::now_ns();
    std::int64_t left_ns = timeout_ns;
    while (bell_.may_sleep()) {
      futex_wait(bell_.word(), Bell::k_announced, left_ns, shared);
      if (timeout_ns < 0) continue;
      left_ns = timeout_ns - static_cast<std::int64_t>(base::now_ns() - start_ns);
      if (left_ns > 0) continue;
      const bool rung = !bell_.may_sleep();
      bell_.cancel();
      return rung;
    }
    return true;
  }

  /// True if a sleeper was there to be woken.
  bool unpark(bool shared = false) noexcept {
    if (!bell_.ring()) return false;
    futex_wake(bell_.word(), 1, shared);
    return true;
  }

private:
  static_assert(std::is_standard_layout_v<Bell> && sizeof(Bell) == sizeof(std::uint32_t),
                "a bell is one word, the same in every process");
  Bell bell_;
};

}  // namespace shoal::machine
