// SPDX-License-Identifier: Apache-2.0
// The system's mutex (pthread_mutex_t) behind the interface of the other locks, to compare with: who is awake takes it
// by compare-and-swap, so it favours the core that has just released it. It waits as the C library does, whatever is
// asked. Who may call: any thread; not for tasks (shoal::mutex is). The class is ignored.
// Shown by tests/unit/locks/any_lock_test.cpp.
#pragma once

#include <mutex>

namespace shoal {

class mutex_lock {
public:
  void lock(unsigned = 0) { mutex_.lock(); }
  bool try_lock() { return mutex_.try_lock(); }
  void unlock() { mutex_.unlock(); }

private:
  std::mutex mutex_;
};

}  // namespace shoal
