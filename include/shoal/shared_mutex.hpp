// SPDX-License-Identifier: Apache-2.0
// A mutex that one writer or many readers hold, for the tasks of one node; as std::shared_timed_mutex, so std::shared_lock
// and std::unique_lock work:
//   shoal::shared_mutex guard;   { std::shared_lock reading(guard); look(); }   { std::unique_lock writing(guard); change(); }
// Who may call: tasks only. Functions named lock and those with a limit may switch tasks; the others do not.
// Guarantees: the queue is served in order; readers in a row get the lock together. While a task has it, those that come
// queue behind those that wait. When it is free the first in the queue is woken and tries again; at most 128 others overtake
// it meanwhile, then it is handed the lock. It may be held over any wait, and unlocked by the task that locked it or by another
// one. While nobody waits, locking and unlocking are one atomic operation each. A reader that locks it again may wait for itself.
// Not for threads, not across nodes. Destroying it while a task holds it or waits ends checked builds with a message.
// Tests: tests/unit/sched/shared_mutex_test.cpp, stress/timed_wait_test.cpp, model/shared_mutex_test.cpp.
#pragma once

#include "shoal/detail/assert.hpp"
#include "shoal/detail/shared_lock.hpp"
#include "shoal/detail/time_limit.hpp"
#include "shoal/detail/wait_list.hpp"

namespace shoal {

class shared_mutex {
public:
  shared_mutex() = default;
  shared_mutex(const shared_mutex&) = delete;
  shared_mutex& operator=(const shared_mutex&) = delete;
  ~shared_mutex() {
    SHOAL_CHECK(core_.is_unused(), "a shared_mutex is destroyed while a task holds it or waits for it");
  }

  void lock() noexcept { core_.lock(false); }
  bool try_lock() noexcept { return core_.try_lock(false); }
  void unlock() noexcept {
    SHOAL_ASSERT(core_.held(false), "a shared_mutex is unlocked that no writer holds; readers call unlock_shared()");
    core_.unlock(false);
  }

  void lock_shared() noexcept { core_.lock(true); }
  bool try_lock_shared() noexcept { return core_.try_lock(true); }
  void unlock_shared() noexcept {
    SHOAL_ASSERT(core_.held(true), "a shared_mutex is unlocked that no reader holds; the writer calls unlock()");
    core_.unlock(true);
  }

  /// Whether it has been locked before the time had passed. May throw std::bad_alloc.
  bool try_lock_for(detail::limit_after limit) { return core_.lock_until(false, limit); }
  bool try_lock_until(detail::limit_at limit) { return core_.lock_until(false, limit); }
  bool try_lock_shared_for(detail::limit_after limit) { return core_.lock_until(true, limit); }
  bool try_lock_shared_until(detail::limit_at limit) { return core_.lock_until(true, limit); }

private:
  detail::shared_lock_core<detail::wait_list> core_;
};

}  // namespace shoal
