// SPDX-License-Identifier: Apache-2.0
// Tasks within one node: a group whose tasks are waited for together, two calls in parallel.
// Who may call: tasks (what shoal::run started, and whatever that started). wait(), yield() and the end of
// parallel_invoke may switch tasks; run() does not.
// Guarantees: a task that waits gives its worker to others and goes on on the same worker; waiting never runs foreign
// tasks on the waiter's stack, only its own children that nobody has taken. The first exception of a group is thrown
// where it is waited for. Costs: a spawn and a join are a few stores and a fence; closures up to about 100 bytes do not
// allocate. Shown by tests/unit/sched/task_test.cpp.
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
#include "shoal/detail/worker.hpp"
#include "shoal/priority.hpp"
#include "shoal/stack_bytes.hpp"

namespace shoal {

/// Lets the other tasks of this worker run. May switch.
void yield() noexcept;
/// Serves messages of other nodes. For bodies that compute for long without any other call. Does not switch.
void poll() noexcept;

namespace detail {

template <class F>
concept task_body = std::is_invocable_v<std::add_lvalue_reference_t<std::decay_t<F>>>;

/// Waits until what this worker has begun asynchronously is complete.
void settle_now() noexcept;
/// The same, if that may include anything since `issued_before`.
inline void settle(std::uint64_t issued_before) noexcept {
  if (issued_count() != issued_before) [[unlikely]]
    settle_now();
}

/// Offers `t` as of other than normal priority.
void spawn_apart(worker_base& w, task& t, priority p);

}  // namespace detail

/// Tasks that are waited for together. Used by one task at a time, and by its own tasks, which may begin more in it but
/// not wait for it. Its destructor waits.
class task_group {
public:
  task_group() = default;
  task_group(const task_group&) = delete;
  task_group& operator=(const task_group&) = delete;
  ~task_group() {
    if (!children_.nothing_begun()) wait_all();
  }

  /// Offers `f` to this worker and to thieves. Its exception, if any, is thrown by wait().
  template <detail::task_body F>
  void run(F&& f) {
    begin(std::forward<F>(f), [](detail::worker_base& w, detail::task& t) { detail::spawn(w, t); });
  }
  /// The same, to begin before or after others (see priority).
  template <detail::task_body F>
  void run(priority p, F&& f) {
    if (p == priority::normal) return run(std::forward<F>(f));
    begin(std::forward<F>(f), [p](detail::worker_base& w, detail::task& t) { detail::spawn_apart(w, t, p); });
  }

  /// The same for a task that asks for a stack (see stack_bytes), whoever runs it.
  template <detail::task_body F>
  void run(stack_bytes stack, F&& f) {
    run(priority::normal, stack, std::forward<F>(f));
  }
  template <detail::task_body F>
  void run(priority p, stack_bytes stack, F&& f) {
    run(p, detail::body_on_stack<std::decay_t<F>>{stack, std::forward<F>(f)});
  }

  /// Returns when all tasks of the group have ended; rethrows the first exception among them. May switch. Runs those
  /// that nobody has taken as plain calls, so their errno stays.
  void wait() {
    if (!children_.nothing_begun()) wait_all();
    children_.rethrow();
  }

private:
  struct child_base : detail::task {
    child_base(const task_group& g, function f, function f_inline) noexcept : task{f, &g}, run_inline(f_inline) {}
    task_group& owner() noexcept { return *static_cast<task_group*>(const_cast<void*>(group)); }
    function run_inline;  // by the waiter, as a plain call
  };

  // AtHome: in the group itself, not in a block of a worker.
  template <class F, bool AtHome>
  struct child_of final : child_base {
    // The waiter completes what such children have begun asynchronously once for all of them: they lie there until it
    // has.
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

    // Runs the body and disposes of the child; the group is touched only for an exception.
    template <bool Settle>
    void call() noexcept {
      const std::uint64_t issued = Settle ? detail::issued_count() : 0;
      try {
        body();
      } catch (...) {
        this->owner().children_.fail(std::current_exception());
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

  template <class F, class Offer>
  void begin(F&& f, Offer offer) {
    using body = std::decay_t<F>;
    using inline_child = child_of<body, true>;
    detail::worker_base& w = detail::worker_here();
    const bool mine = is_mine(w);
    // The first children since the last wait lie in the group itself, if they fit: most groups have few.
    if constexpr (sizeof(inline_child) <= k_home_bytes && alignof(inline_child) <= alignof(std::max_align_t)) {
      constexpr std::size_t k_bytes =
          (sizeof(inline_child) + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
      if (std::byte* const place = mine ? allocate_inline(k_bytes) : nullptr; place != nullptr) {
        auto* const c = ::new (place) inline_child(*this, std::forward<F>(f));
        try {
          offer(w, *c);
        } catch (...) {  // no memory for a longer deque
          c->dispose();
          throw;
        }
        return children_.add();
      }
    }
    auto* const c = make<child_of<body, false>>(w, std::forward<F>(f));
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

  // Otherwise it is one of the group's own tasks, on another worker or while the group is waited for, that begins
  // another one. It is counted and has not ended, so the group cannot be over.
  bool is_mine(const detail::worker_base& w) noexcept {
    if (user_ != nullptr) return user_ == &w && !children_.awaited();
    user_ = &w;
    home_used_ = 0;
    return true;
  }

  // Room for a child; nullptr if there is not enough.
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

  static constexpr std::size_t k_home_bytes = 256;
  detail::completion children_;
  // The worker whose tasks may use what is not atomic here: that of the task that began the first child. The same for
  // as long as there are children, who may read it.
  const detail::worker_base* user_ = nullptr;
  std::uint32_t home_used_ = 0;  // bytes
  alignas(std::max_align_t) std::byte home_[k_home_bytes];
};

/// A task_group all of whose tasks ask for a stack.
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

/// Runs `f` and `g`, possibly at the same time; returns when both have ended. May switch. If both throw, f's wins.
template <class F, class G>
requires std::invocable<F&> && std::invocable<G&>
void parallel_invoke(F&& f, G&& g) {
  using second_body = std::remove_reference_t<G>;
  struct second final : detail::task {
    second_body* body = nullptr;
    detail::completion ended;
    void call() noexcept {
      const std::uint64_t issued = detail::issued_count();
      try {
        (*body)();
      } catch (...) {
        ended.fail(std::current_exception());
      }
      detail::settle(issued);
    }
  } child;
  child.body = std::addressof(g);
  child.run = [](detail::task& t) noexcept {
    auto& self = static_cast<second&>(t);
    self.call();
    self.ended.done();
  };
  detail::spawn(detail::worker_here(), child);
  std::exception_ptr thrown;
  try {
    f();
  } catch (...) {
    thrown = std::current_exception();
  }
  if (detail::unspawn(*detail::t_worker, child)) {
    child.call();
  } else {
    child.ended.add();
    child.ended.wait();
  }
  if (thrown) [[unlikely]] {
    child.ended.take_failure();
    std::rethrow_exception(thrown);
  }
  child.ended.rethrow();
}

/// The same for more of them. If several throw, the first of these in order wins.
template <class F, class G, class... More>
requires(std::invocable<F&>&& std::invocable<G&> && sizeof...(More) > 0 &&
         (std::invocable<More&> && ...)) void parallel_invoke(F&& f, G&& g, More&&... more) {
  parallel_invoke(f, [&] { parallel_invoke(g, more...); });
}

/// A list of one: a call.
template <class F>
requires std::invocable<F&>
void parallel_invoke(F&& f) { f(); }

}  // namespace shoal
