// SPDX-License-Identifier: Apache-2.0
// Adapts a lock of the library to any_lock and records the owner.
// Who may call: as any_lock. Test: tests/unit/locks/any_lock_test.cpp.
#pragma once

#include <atomic>
#include <utility>

#include "machine/thread_id.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/locks/any_lock.hpp"

namespace shoal::locks {

/// The kernel's data about a thread; 0 means no owner.
lock_owner describe_owner(std::uint32_t thread);

template <class Lock>
class owned_lock final : public any_lock {
public:
  template <class... Args>
  explicit owned_lock(Args&&... args) : lock_(std::forward<Args>(args)...) {}

  void lock(unsigned cls) override {
    lock_.lock(cls);
    note(machine::thread_id());
  }
  bool try_lock() override {
    if (!lock_.try_lock()) return false;
    note(machine::thread_id());
    return true;
  }
  void unlock() override {
    // The owner was recorded by lock().
    SHOAL_ASSERT(thread_.load(std::memory_order_relaxed) != 0,
                 "unlock() of a lock without an owner; only the thread that locked it may unlock it, once");
    note(0);
    lock_.unlock();
  }
  void lock_for(lock_event& event, unsigned cls) override {
    if constexpr (requires { lock_.lock_for(event); })
      lock_.lock_for(event);
    else
      lock_.lock(cls);
    note(machine::thread_id());
  }
  lock_owner owner() const override { return describe_owner(thread_.load(std::memory_order_relaxed)); }

private:
  void note(std::uint32_t thread) { thread_.store(thread, std::memory_order_relaxed); }

  Lock lock_;
  std::atomic<std::uint32_t> thread_{0};  // partner: owner(); relaxed, orders nothing
};

}  // namespace shoal::locks
