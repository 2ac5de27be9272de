// SPDX-License-Identifier: Apache-2.0
// The scope of stop requests that a task belongs to (shoal/stop_scope.hpp). A worker has the scope of its running task; what
// a task begins has that scope, too. A task without a scope leaves no trace of this: the worker's scope is nullptr unless
// a task in a scope runs, which takes it along when it waits.
// Who may call: tasks. within_scope does not switch; the task may continue on another worker meanwhile.
// Shown by tests/unit/sched/stop_scope_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

/// The time limit of a scope; scopes within it that have none of their own point to it, too.
struct scope_limit {
  const std::uint64_t due_ns;                       // of the clock of time_limit.hpp
  const scope_limit* const outer;                   // the next one around it; nullptr: none
  void (*const come)(const scope_limit&) noexcept;  // requests the stop
};
/// Goes outwards, and requests the stop of each scope whose time has passed. Only on workers.
void look_at_limits(const scope_limit& innermost) noexcept;

class scope {
public:
  /// Looks at the clock if there is a time limit.
  bool stop_requested() const noexcept {
    if (limit_ != nullptr && !token_.stop_requested()) [[unlikely]]
      look_at_limits(*limit_);
    return token_.stop_requested();
  }
  const std::stop_token& token() const noexcept { return token_; }
  /// When the first of its time limits comes (time_limit.hpp); time_limit::k_never: it has none.
  std::uint64_t due_ns() const noexcept;

  /// A future that belongs to the scope, from its task's beginning to its end; counted in checked builds.
  void add() const noexcept {
#ifdef SHOAL_CHECKED
    users_.fetch_add(1, std::memory_order_relaxed);  // partner: the destructor of the scope
#endif
  }
  void remove() const noexcept {
#ifdef SHOAL_CHECKED
    users_.fetch_sub(1, std::memory_order_release);
#endif
  }

protected:
  explicit scope(std::stop_token t) noexcept : token_(std::move(t)) {}
  static const scope_limit* limit_of(const scope* s) noexcept { return s == nullptr ? nullptr : s->limit_; }
  /// Before other tasks know the scope.
  void set_limit(const scope_limit* l) noexcept { limit_ = l; }
  ~scope() {
    SHOAL_CHECK(
        users_.load(std::memory_order_acquire) == 0,
        "a stop_scope ends before a future that was begun in it; let the scope outlive it, or get() the future");
  }

private:
  const std::stop_token token_;
  const scope_limit* limit_ = nullptr;
  mutable std::atomic<std::int64_t> users_{0};  // in checked builds
};

/// The token of the scope that the calling task belongs to; nullptr: it belongs to none.
inline const std::stop_token* stop_of_scope() noexcept {
  const scope* const here = worker_here().scope;
  return here == nullptr ? nullptr : &here->token();
}

/// Whether what stops with `token` (nullptr: nothing) is to begin no more. Looks at the time limit of the scope `here` of
/// the running task (nullptr: none), since the token may be that of a scope that stops with it.
inline bool stop_requested_of(const std::stop_token* token, const scope* here) noexcept {
  if (token == nullptr) return false;
  if (here != nullptr) static_cast<void>(here->stop_requested());
  return token->stop_requested();
}

/// Sets the scope of the running task; gives the one before.
const scope* exchange_scope(const scope* s) noexcept;

class within_scope {
public:
  explicit within_scope(const scope* s) noexcept : before_(exchange_scope(s)) {}
  within_scope(const within_scope&) = delete;
  within_scope& operator=(const within_scope&) = delete;
  ~within_scope() { exchange_scope(before_); }

private:
  const scope* before_;
};

/// Whether the body of a task of the scope `s` cannot run as it is: neither that nor the worker has a scope mostly.
inline bool needs_scope(const scope* s) noexcept { return s != nullptr || t_worker->scope != nullptr; }

/// Around the body of a task of the scope `s` or of none. `stops`: it does not begin once a stop is requested.
class entered_scope : within_scope {
public:
  entered_scope(const scope* s, bool stops) noexcept : within_scope(s), stopped_(stops && s->stop_requested()) {}
  /// Whether the task is to run.
  bool may_begin() const noexcept { return !stopped_; }

private:
  bool stopped_;
};

}  // namespace shoal::detail

namespace shoal {

/// For groups, flows, graphs and loops: they stop with the scope of the task that begins them (stop_scope.hpp). Where there
/// is none, nothing stops them.
struct in_scope_t {};
inline constexpr in_scope_t in_scope;

}  // namespace shoal
