// SPDX-License-Identifier: Apache-2.0
// Futures: results of tasks (async), of continuations (then), of several futures (when_all), of promises.
//   shoal::future<int> f = shoal::async([] { return work(); });  ...  int x = f.get();
// Who may call: tasks; one task at a time for each future and each promise. get(), wait() and a future's destructor may
// switch tasks: the destructor waits for the task, but not for a promise. The other functions do not switch. A promise may
// be set, or destroyed, by any thread: what follows it is a task of the pool in which that was attached.
// Guarantees: get() moves the value out, once, or throws the task's exception. A continuation runs directly after its
// task, on the same worker (as a new task if then() comes later). After an exception continuations do not run; their
// futures have the same exception. One that nobody gets is logged. A wait that would close a cycle throws shoal::error
// (deadlock) with the tasks' names; cycles through a promise, a group, a lock or the continuation of when_all are not
// detected. One allocation per task, from recycled blocks if closure, value and shared state fit into 128 bytes.
// Tests: tests/unit/sched/future_test.cpp, future_cycle_test.cpp.
#pragma once

#include <concepts>
#include <exception>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/future_state.hpp"

namespace shoal {

template <class T>
class future {
public:
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_const_v<T>),
                "a future holds a value or nothing; give a pointer instead of a reference");

  future() = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  bool valid() const noexcept { return state_ != nullptr; }
  /// Whether get() would return at once.
  bool ready() const noexcept { return state().is_ready(); }
  /// Returns when the result is there. Throws only in a cycle of waits (see above).
  void wait() { detail::await(state()); }
  /// Whether the result is there before the time has passed (see sleep.hpp). The task goes on in either case.
  bool wait_for(detail::limit_after limit) { return detail::await_until(state(), limit); }
  bool wait_until(detail::limit_at limit) { return detail::await_until(state(), limit); }
  /// Waits, and returns the result or throws the task's exception. Call it once.
  T get() {
    wait();
    const auto mine = std::move(state_);
    if (mine->thrown) std::rethrow_exception(std::exchange(mine->thrown, nullptr));
    if constexpr (!std::is_void_v<T>) return std::move(*mine->value);
  }

  /// Starts `f` as a task when the value is there, with the value as its argument (none for future<void>). Returns the
  /// future of its result.
  template <class F>
  requires detail::continuation_of<F, T>
  auto then(F&& f) -> future<detail::continuation_result<F, T>> {
    using next = detail::then_state<detail::continuation_result<F, T>, T, std::decay_t<F>>;
    detail::future_state& source = state();
    next* const made = detail::make_state<next>(std::in_place, std::forward<F>(f));
    future<detail::continuation_result<F, T>> result(made);
    made->take_source(*state_.release());
    made->enter_scope();
    if (!detail::attach(source, *made)) detail::spawn_attached(*made);
    return result;
  }

private:
  template <class>
  friend class future;
  template <class>
  friend class promise;
  friend struct detail::future_access;
  using value_state = detail::future_value<T>;

  explicit future(value_state* s) noexcept : state_(s) {}
  value_state& state() const noexcept {
    SHOAL_ASSERT(valid(), "this future has no task: it was moved from, or get() or then() was called before");
    return *state_;
  }

  std::unique_ptr<value_state, detail::state_dropper> state_;
};

namespace detail {

template <class F>
auto begin_async(const char* name, F&& f, task::function run) -> future<std::invoke_result_t<std::decay_t<F>&>> {
  using result = std::invoke_result_t<std::decay_t<F>&>;
  worker_base& w = worker_here();
  auto* const made = make_state<async_state<result, std::decay_t<F>>>(std::in_place, std::forward<F>(f));
  made->name = name;
  made->run = run;
  made->enter_scope();
  try {
    spawn(w, *made);
  } catch (...) {  // no memory to enlarge the deque
    made->body_is_gone();
    leave_scope(*made);
    made->of->dispose(*made);
    throw;
  }
  return future_access::make<result>(made);
}

template <class F>
auto async_movable(const char* name, F&& f) {
  return begin_async(name, movable_body<std::decay_t<F>>{std::forward<F>(f)},
                     [](task& t) noexcept { begin_movable(t, run_future); });
}

}  // namespace detail

/// Starts `f` as a task of this node and returns its future. Error messages name the task by `name`, a literal, or by a
/// number.
template <detail::task_body F>
auto async(const char* name, F&& f) -> future<std::invoke_result_t<std::decay_t<F>&>> {
  return detail::begin_async(name, std::forward<F>(f), detail::run_future);
}
template <detail::task_body F>
auto async(F&& f) -> future<std::invoke_result_t<std::decay_t<F>&>> {
  return async(nullptr, std::forward<F>(f));
}

/// Not as std::async: says so.
template <class F, class... Args>
requires(sizeof...(Args) > 0 && std::invocable<F, Args...>) void async(F&&, Args&&...) {
  static_assert(sizeof(F) == 0,
                "shoal::async takes no arguments for the function; write async([=] { return f(a, b); })");
}

/// The same for a task that may continue on another worker after a wait (see movable.hpp).
template <detail::task_body F>
auto async(const char* name, movable_t, F&& f) {
  return detail::async_movable(name, std::forward<F>(f));
}
template <detail::task_body F>
auto async(movable_t, F&& f) {
  return detail::async_movable(nullptr, std::forward<F>(f));
}

/// The same for a task that needs a stack of a given size (see stack_bytes).
template <detail::task_body F>
auto async(const char* name, stack_bytes stack, F&& f) {
  return async(name, detail::body_on_stack<std::decay_t<F>>{stack, std::forward<F>(f)});
}
template <detail::task_body F>
auto async(stack_bytes stack, F&& f) {
  return async(nullptr, stack, std::forward<F>(f));
}

namespace detail {

/// The result of when_all() exists only when somebody waits for it; a continuation makes its future one like others.
template <class T>
future<T> settled(future<T> f) {
  if (future_access::state(f).of->attach == nullptr) return f;
  if constexpr (std::is_void_v<T>)
    return f.then([] {});
  else
    return f.then([](T value) { return value; });
}

}  // namespace detail

/// Sets the value of a future that belongs to no task. A promise destroyed before it is set gives its future a
/// shoal::error (abandoned). If the pool in which then(), when_any() or co_await was
/// called has ended, what follows runs in that of the task that sets it; where a thread sets it, not at all, and a warning
/// says so.
template <class T>
class promise {
public:
  explicit promise(const char* name = nullptr) : state_(detail::make_state<detail::promise_state<T>>()) {
    state_->name = name;
  }
  promise(promise&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)), given_(std::exchange(other.given_, false)) {}
  promise& operator=(promise&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(given_, other.given_);
    return *this;
  }
  ~promise() {
    if (state_ == nullptr) return;
    if (!detail::is_dropped(*state_)) state_->thrown = detail::broken_promise(*state_);
    finish();
  }

  future<T> get_future() {
    SHOAL_ASSERT(state_ != nullptr && !given_, "a promise has one future, to be asked for before it is set");
    given_ = true;
    return detail::future_access::make<T>(state_);
  }

  /// If the value's constructor throws, the promise is as before.
  template <class... Values>
  requires std::constructible_from<detail::stored<T>, Values...>
  void set_value(Values&&... values) {
    check();
    state_->value.emplace(std::forward<Values>(values)...);
    finish();
  }
  void set_exception(const std::exception_ptr& e) noexcept {
    check();
    SHOAL_ASSERT(e != nullptr, "a promise is set to an exception, and this is none; std::make_exception_ptr makes one");
    state_->thrown = e;
    finish();
  }

private:
  void check() const noexcept {
    SHOAL_ASSERT(state_ != nullptr, "a promise is set once; this one was set before, or moved from");
  }
  void finish() noexcept {
    auto* const mine = std::exchange(state_, nullptr);
    if (given_)
      detail::finish_elsewhere(*mine);
    else
      mine->of->dispose(*mine);
  }

  detail::promise_state<T>* state_;
  bool given_ = false;
};

/// A future of the values of all `futures`, std::monostate for void. If some have exceptions, the first in argument
/// order is the result.
template <class... Ts>
requires(sizeof...(Ts) > 0) auto when_all(future<Ts>... futures) -> future<std::tuple<detail::stored<Ts>...>> {
  using state = detail::gather_state<detail::tuple_of_futures<Ts...>>;
  return detail::future_access::make<std::tuple<detail::stored<Ts>...>>(
      detail::make_state<state>(detail::tuple_of_futures<Ts...>(std::move(futures)...)));
}
template <class T>
auto when_all(std::vector<future<T>> futures)
    -> future<std::conditional_t<std::is_void_v<T>, void, std::vector<detail::stored<T>>>> {
  using result = std::conditional_t<std::is_void_v<T>, void, std::vector<detail::stored<T>>>;
  using state = detail::gather_state<detail::vector_of_futures<T>>;
  return detail::future_access::make<result>(
      detail::make_state<state>(detail::vector_of_futures<T>(std::move(futures))));
}

}  // namespace shoal
