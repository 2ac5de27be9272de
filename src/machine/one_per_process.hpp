// SPDX-License-Identifier: Apache-2.0
// An object of which each process has one. A child made by fork() has a copy of its parent's, perhaps in the middle of a
// change and with locks that nobody will give back: it is left as it is, and the child makes its own.
//   constinit one_per_process<registry> g_registry;   ...   registry& mine = g_registry.get();
// Who may call: any thread. get() allocates once. The object is never destroyed. Never switches tasks.
// Shown by tests/unit/sched/future_outside_test.cpp, tests/cluster/hang_test.cpp.
#pragma once

#include <atomic>
#include <memory>

#include "machine/process.hpp"

namespace shoal::machine {

template <class T>
class one_per_process {
public:
  T& get() {
    const int process = own_pid();
    for (owned* known = newest_.load(std::memory_order_acquire);;) {
      if (known != nullptr && known->process == process) return known->object;
      auto made = std::make_unique<owned>(process, known);
      if (newest_.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return made.release()->object;
    }
  }

private:
  struct owned {
    owned(int p, owned* from) noexcept : process(p), copied(from) {}
    const int process;
    owned* const copied;  // from the parent
    T object;
  };
  std::atomic<owned*> newest_{nullptr};  // partners: the threads that call get()
};

}  // namespace shoal::machine
