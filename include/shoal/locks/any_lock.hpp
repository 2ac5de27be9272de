// SPDX-License-Identifier: Apache-2.0
// A lock whose kind and wait policy are chosen by name at run time. It also records its owner, so that a thread that
// ended while it held the lock can be named.
// Who may call: any thread; not tasks (use task_lock.hpp). lock() and lock_for() block according to the wait_kind.
// Guarantees: writes before unlock() are visible after the next lock(). Works with std::lock_guard and
// std::unique_lock. Costs a virtual call and two stores more than the kind itself. Must outlive every unlock() that has
// begun. Test: tests/unit/locks/any_lock_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "shoal/locks/lock_event.hpp"
#include "shoal/locks/package_map.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

/// The owner of a lock: a snapshot that may be out of date.
struct lock_owner {
  std::uint32_t thread = 0;  // the kernel's thread id; 0: no owner
  std::string name;          // the thread's name, if it has one and lives
  bool lives = false;        // false with a thread: the thread ended while it held the lock

  /// "nobody", "thread 1234 (worker)", "thread 1234, which has ended"
  std::string text() const;
};

class any_lock {
public:
  virtual ~any_lock() = default;
  any_lock(const any_lock&) = delete;
  any_lock& operator=(const any_lock&) = delete;

  /// Class 0 has the highest priority; kinds without classes ignore it.
  virtual void lock(unsigned cls = 0) = 0;
  virtual bool try_lock() = 0;
  virtual void unlock() = 0;
  /// As lock(). The kind `message` serves this waiter next when the event has been raised.
  virtual void lock_for(lock_event& event, unsigned cls = 0) = 0;

  /// For diagnostics: reads the kernel's data about the thread.
  virtual lock_owner owner() const = 0;

protected:
  any_lock() = default;
};

struct lock_options {
  unsigned classes = 2;           // for kind priority
  std::optional<unsigned> bound;  // how often a waiter may be bypassed: bounded (512), hierarchical (64), message (64)
  package_map packages;           // for kind hierarchical; package_map::of_machine() for the real packages
};

/// The names that make_lock() accepts.
std::span<const std::string_view> lock_kinds() noexcept;
std::span<const std::string_view> wait_kinds() noexcept;
/// Accepts "spin", "yield", "park" and "adaptive"; throws shoal::error with this list otherwise.
wait_kind parse_wait_kind(std::string_view name);

/// Throws shoal::error with the list of kinds if `kind` is unknown.
std::unique_ptr<any_lock> make_lock(std::string_view kind, wait_kind wait = wait_kind::adaptive,
                                    const lock_options& options = {});

}  // namespace shoal
