// SPDX-License-Identifier: Apache-2.0
// A lock whose kind and way of waiting are chosen by name when the program runs. Besides what the kind does, it
// remembers which thread holds it, so that a thread that ended while holding can be named.
// Who may call: any thread; not tasks (task_lock.hpp is for them). lock() and lock_for() block as the wait_kind says.
// Guarantees: what was written before unlock() is visible after the next lock(). Works with std::lock_guard and
// std::unique_lock. Costs a virtual call and two stores more than the kind itself. Must outlive every unlock() that has
// begun. Shown by tests/unit/locks/any_lock_test.cpp.
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

/// Who holds a lock, as far as can be known while others run.
struct lock_owner {
  std::uint32_t thread = 0;  // the kernel's number; 0: nobody
  std::string name;          // the thread's, if it has one and lives
  bool lives = false;        // false with a thread: it has ended while holding

  /// "nobody", "thread 1234 (worker)", "thread 1234, which has ended"
  std::string text() const;
};

class any_lock {
public:
  virtual ~any_lock() = default;
  any_lock(const any_lock&) = delete;
  any_lock& operator=(const any_lock&) = delete;

  /// Class 0 goes first; kinds without classes ignore it.
  virtual void lock(unsigned cls = 0) = 0;
  virtual bool try_lock() = 0;
  virtual void unlock() = 0;
  /// As lock(); the kind `message` serves this waiter next once the event has been raised.
  virtual void lock_for(lock_event& event, unsigned cls = 0) = 0;

  /// For diagnostics: reads what the kernel says of the thread.
  virtual lock_owner owner() const = 0;

protected:
  any_lock() = default;
};

struct lock_options {
  unsigned classes = 2;           // of kind priority
  std::optional<unsigned> bound;  // how often a waiter may be passed: bounded (512), hierarchical (64), message (64)
  package_map packages;           // of kind hierarchical; package_map::of_machine() for the real ones
};

/// The kinds that make_lock() knows.
std::span<const std::string_view> lock_kinds() noexcept;
std::span<const std::string_view> wait_kinds() noexcept;
/// "spin", "yield", "park" or "adaptive"; throws shoal::error that lists them.
wait_kind parse_wait_kind(std::string_view name);

/// Throws shoal::error that lists the kinds if it does not know this one.
std::unique_ptr<any_lock> make_lock(std::string_view kind, wait_kind wait = wait_kind::adaptive,
                                    const lock_options& options = {});

}  // namespace shoal
