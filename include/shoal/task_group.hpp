// SPDX-License-Identifier: Apache-2.0
// Tasks with a common wait, within one node:
//   shoal::task_group g;  g.run([&] { left(); });  right();  g.wait();
// Who may call: tasks (the main task of shoal::run or shoal::pool::run, and tasks that a task has spawned). The waits and
// yield() may switch tasks; run() does not.
// Guarantees: a waiting task is suspended and continues on the same worker. A wait never runs other tasks on the
// waiter's stack, only its own children that no thief has taken. wait() throws the first exception of the group.
// Costs: a spawn and a join are a few stores and a fence; closures up to about 100 bytes use recycled memory blocks.
// Tests: tests/unit/sched/task_group_test.cpp, task_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/scope.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/movable.hpp"
#include "shoal/priority.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal {

class stop_scope;

/// Lets the other tasks of this worker run. May switch.
void yield() noexcept;
/// Executes messages of other nodes. For bodies that compute for a long time without other calls. Does not switch.
void poll() noexcept;

namespace detail {

template <class F>
concept task_body = std::is_invocable_v<std::add_lvalue_reference_t<std::decay_t<F>>>;

/// A body that gives a coroutine, which nobody would run.
template <class F>
concept gives_coroutine = requires {
  typename std::invoke_result_t<std::decay_t<F>&>::promise_type;
};

/// Waits until all asynchronous operations of this worker are complete.
void settle_now() noexcept;
/// The same, if there may be operations since `issued_before`.
inline void settle(std::uint64_t issued_before) noexcept {
  if (issued_count() != issued_before) [[unlikely]]
    settle_now();
}

/// Spawns `t` with a priority other than normal.
void spawn_apart(worker_base& w, task& t, priority p);

}  // namespace detail

/// Tasks with a common wait. One task at a time uses it; the group's own tasks may also call run(), but not wait(). The
/// destructor waits.
class task_group {
public:
  task_group() = default;
  /// Once a stop is requested of `s`, tasks that have not begun do not run; they belong to `s`, which outlives the group (see
  /// stop_scope.hpp). Other groups' tasks belong to the scope of the task that begins the first of them, and run in any case.
  explicit task_group(const stop_scope& s) noexcept;
  /// The same with the scope of the calling task.
  explicit task_group(in_scope_t) noexcept : given_scope_(detail::worker_here().scope) {}
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() {
    if (!children_.nothing_begun()) wait_all();
  }

  /// Spawns `f`: this worker or a thief runs it. wait() throws its exception, if any.
  template <detail::task_body F>
  void run(F&& f) {
    begin(std::forward<F>(f), [](detail::worker_base& w, detail::task& t) { detail::spawn(w, t); });
  }
  /// The same with a priority (see priority.hpp).
  template <detail::task_body F>
  void run(priority p, F&& f) {
    if (p == priority::normal) return run(std::forward<F>(f));
    begin(std::forward<F>(f), [p](detail::worker_base& w, detail::task& t) { detail::spawn_apart(w, t, p); });
  }

  /// The same for a task that may continue on another worker after a wait (see movable.hpp).
  template <detail::task_body F>
  void run(movable_t, F&& f) {
    begin(detail::movable_body<std::decay_t<F>>{std::forward<F>(f)},
          [](detail::worker_base& w, detail::task& t) { detail::spawn(w, t); });
  }

  /// The same for a task that needs a stack of a given size (see stack_bytes.hpp).
  template <detail::task_body F>
  void run(stack_bytes stack, F&& f) {
    run(priority::normal, stack, std::forward<F>(f));
  }
  template <detail::task_body F>
  void run(priority p, stack_bytes stack, F&& f) {
    run(p, detail::body_on_stack<std::decay_t<F>>{stack, std::forward<F>(f)});
  }

  /// Returns when all tasks of the group have ended; rethrows their first exception. May switch. Tasks that no thief
  /// has taken may run here as plain calls; these share the caller's errno.
  void wait() {
    if (!children_.nothing_begun()) wait_all();
    children_.rethrow();
  }

  /// Whether all tasks of the group have ended before the time has passed (see sleep.hpp): then as wait(). Otherwise they go
  /// on, and the group can be waited for again. Runs no task itself.
  bool wait_for(detail::limit_after limit) { return wait_by(limit); }
  bool wait_until(detail::limit_at limit) { return wait_by(limit); }

private:
  struct child_base : detail::task {
    child_base(const task_group& g, function f, function f_inline) noexcept : task{f, &g}, run_inline(f_inline) {}
    task_group& owner() noexcept { return *static_cast<task_group*>(const_cast<void*>(group)); }
    function run_inline;  // by the waiter, as a plain call
  };
  /// Calls the body of a child within its scope, unless that has been stopped.
  static void call_in_scope(child_base& c, void (*body)(child_base&)) noexcept;

  // AtHome: stored in the group itself, not in a block of a worker.
  template <class F, bool AtHome>
  struct child_of final : child_base {
    // The waiter completes the asynchronous operations of all such children at once; their storage stays until then.
    static constexpr bool k_settled_by_waiter = AtHome && std::is_trivially_destructible_v<F>;

    template <class G>
    child_of(const task_group& g, G&& f) noexcept(std::is_nothrow_constructible_v<F, G>)
        : child_base(
              g,
              [](detail::task& t) noexcept {
                auto& self = static_cast<child_of&>(t);
                task_group& waited = self.owner();
                self.template call<true>();
                waited.children_.done();
              },
              [](detail::task& t) noexcept { static_cast<child_of&>(t).template call<!k_settled_by_waiter>(); }),
          body(std::forward<G>(f)) {}

    // Runs the body and destroys the child. Accesses the group only after an exception.
    template <bool Settle>
    void call() noexcept {
      const std::uint64_t issued = Settle ? detail::issued_count() : 0;
      if (detail::needs_scope(this->owner().scope_)) [[unlikely]] {
        call_in_scope(*this, [](child_base& c) { static_cast<child_of&>(c).body(); });
      } else {
        try {
          body();
        } catch (...) {
          this->owner().children_.fail(std::current_exception());
        }
      }
      if constexpr (Settle) detail::settle(issued);
      this->dispose();
    }

    void dispose() noexcept {
      this->~child_of();
      if constexpr (!AtHome) detail::deallocate_for<child_of>(*detail::t_worker, this);
    }

    F body;
  };

  // It never runs on the stack of the waiter: to unspawn_of() it is of no group.
  template <class F>
  struct movable_child final : detail::task {
    template <class G>
    movable_child(task_group& g, G&& f) noexcept(std::is_nothrow_constructible_v<F, G>)
        : detail::task{[](detail::task& t) noexcept { detail::begin_movable(t, run_here); }, nullptr},
          waited(g),
          body(std::forward<G>(f)) {}

    static void run_here(detail::task& t) noexcept {
      auto& self = static_cast<movable_child&>(t);
      task_group& waited = self.waited;
      {
        const detail::entered_scope scope(waited.scope_, waited.given_scope_ != nullptr);
        try {
          if (scope.may_begin()) self.body();
        } catch (...) {
          waited.children_.fail(std::current_exception());
        }
      }
      self.dispose();
      waited.children_.done();
    }
    void dispose() noexcept {
      this->~movable_child();
      detail::deallocate_for<movable_child>(*detail::t_worker, this);
    }

    task_group& waited;
    F body;
  };

  template <class F, class Offer>
  void begin(F&& f, Offer offer) {
    static_assert(!detail::gives_coroutine<F>,
                  "a group runs functions; give a coroutine to shoal::async (coroutine.hpp)");
    detail::worker_base& w = detail::worker_here();
    const bool mine = is_mine(w);
    try {
      begin_child(w, mine, std::forward<F>(f), offer);
    } catch (...) {
      if (mine && children_.nothing_begun()) user_ = nullptr;
      throw;
    }
  }

  template <class F, class Offer>
  void begin_child(detail::worker_base& w, bool mine, F&& f, Offer offer) {
    using body = std::decay_t<F>;
    using inline_child = child_of<body, true>;
    // The first children after a wait are stored in the group itself, if they fit: most groups have few.
    if constexpr (!detail::k_is_movable<body> && sizeof(inline_child) <= k_home_bytes &&
                  alignof(inline_child) <= alignof(std::max_align_t)) {
      constexpr std::size_t k_bytes =
          (sizeof(inline_child) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
      if (std::byte* const place = mine ? allocate_inline(k_bytes) : nullptr; place != nullptr) {
        auto* const c = ::new (place) inline_child(*this, std::forward<F>(f));
        try {
          offer(w, *c);
        } catch (...) {  // no memory to enlarge the deque
          c->dispose();
          throw;
        }
        return children_.add();
      }
    }
    using child = std::conditional_t<detail::k_is_movable<body>, movable_child<body>, child_of<body, false>>;
    auto* const c = make<child>(w, std::forward<F>(f));
    if (!mine) children_.add_elsewhere();
    try {
      offer(w, *c);
    } catch (...) {
      c->dispose();
      if (!mine) children_.done();
      throw;
    }
    if (mine) children_.add();
  }

  // Whether the caller may use the members that are not atomic. If not, the caller is a task of the group, on another
  // worker or during the wait. The group has counted this task, and it has not ended; so the wait cannot end now.
  bool is_mine(const detail::worker_base& w) noexcept {
    if (user_ != nullptr) return user_ == &w && !children_.awaited();
    user_ = &w;
    home_used_ = 0;
    scope_ = given_scope_ != nullptr ? given_scope_ : w.scope;
    return true;
  }

  // Storage for a child; nullptr if there is not enough.
  std::byte* allocate_inline(std::size_t bytes) noexcept {
    const detail::tsan_ignore_scope ignore;
    const std::size_t place = home_used_;
    if (place > k_home_bytes - bytes) return nullptr;
    home_used_ = static_cast<std::uint32_t>(place + bytes);
    return home_ + place;
  }

  template <class Child, class F>
  Child* make(detail::worker_base& w, F&& f) {
    void* const place = detail::allocate_for<Child>(w);
    if constexpr (std::is_nothrow_constructible_v<Child, task_group&, F>) {
      return ::new (place) Child(*this, std::forward<F>(f));
    } else {
      try {
        return ::new (place) Child(*this, std::forward<F>(f));
      } catch (...) {  // the copy of the body
        detail::deallocate_for<Child>(*detail::t_worker, place);
        throw;
      }
    }
  }

  void wait_all() noexcept;
  bool wait_by(detail::time_limit until);

  static constexpr std::size_t k_home_bytes = 256;
  detail::completion children_;
  // The worker of the task that spawned the first child: only its tasks may use the members that are not atomic.
  // Constant while there are children, which may read it.
  const detail::worker_base* user_ = nullptr;
  const detail::scope* scope_;  // of the children; once there is a user
  const detail::scope* given_scope_ = nullptr;
  std::uint32_t home_used_;  // bytes; once there is a user
  alignas(std::max_align_t) std::byte home_[k_home_bytes];
};

/// A task_group whose tasks all need a stack of a given size.
class sized_task_group {
public:
  explicit sized_task_group(stack_bytes stack) noexcept : stack_(stack) {}
  template <detail::task_body F>
  void run(F&& f) {
    group_.run(stack_, std::forward<F>(f));
  }
  template <detail::task_body F>
  void run(priority p, F&& f) {
    group_.run(p, stack_, std::forward<F>(f));
  }
  void wait() { group_.wait(); }

private:
  task_group group_;
  stack_bytes stack_;
};

}  // namespace shoal
