// SPDX-License-Identifier: Apache-2.0
// The system's mutex (pthread_mutex_t) with the interface of the other locks, for comparison. Running threads acquire
// it by compare-and-swap, so it favours the core that released it last. Waiting is up to the C library; the wait policy
// has no effect.
// Who may call: any thread; not tasks (use shoal::mutex). The class is ignored. Test:
// tests/unit/locks/any_lock_test.cpp.
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
