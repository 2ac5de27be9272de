// SPDX-License-Identifier: Apache-2.0
// Coroutines as bodies of tasks: a wait keeps a frame of some hundred bytes in place of a stack.
//   shoal::coroutine<int> sum(int n) {                      // begins when it is awaited, or given to async
//     int total = co_await shoal::async([n] { return n; }); // a future
//     if (n > 1) total += co_await sum(n - 1);              // another coroutine
//     co_return total;
//   }
//   shoal::future<int> f = shoal::async(sum(3));            // as a task
// Who may call: tasks. `co_await` of a future does not switch: it returns to the worker, and the coroutine continues as a
// task, directly after the one that has made the result, on the worker of that. All other waits work too, and keep the
// stack that the coroutine runs on, as in any task.
// Guarantees: the body of async(c) belongs to the stop_scope of its caller, as do those that it awaits. An exception goes to
// whoever awaits. Asynchronous operations that it has begun are complete before it is suspended.
// Limits: after a co_await it may be on another worker, so it holds no shoal::mutex, no_wait or address of a thread_local
// variable over one. Captures of a lambda must outlive its coroutine; async(lambda) keeps them. Not in task_group::run().
// Source: C++20; HPX's future as an awaitable. Tests: tests/unit/sched/coroutine_test.cpp.
#pragma once

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

#include "shoal/detail/coroutine_state.hpp"

namespace shoal {

/// A coroutine that has not begun. co_await it in another one, or give it to async(), once.
template <class T>
class [[nodiscard]] coroutine {
public:
  using promise_type = detail::coroutine_promise<T>;
  using result_type = T;

  coroutine(coroutine&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  coroutine& operator=(coroutine&& other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~coroutine() {
    if (at_) at_.destroy();
  }

private:
  friend promise_type;
  friend struct detail::coroutine_access;
  explicit coroutine(std::coroutine_handle<promise_type> at) noexcept : at_(at) {}

  std::coroutine_handle<promise_type> at_;
};

inline coroutine<void> detail::coroutine_promise<void>::get_return_object() noexcept {
  return coroutine<void>(std::coroutine_handle<coroutine_promise>::from_promise(*this));
}

/// Starts `c` as a task of this node and returns the future of its result.
template <class T>
future<T> async(const char* name, coroutine<T> c) {
  return detail::begin_coroutine<T>(name, [kept = std::move(c)]() mutable { return std::move(kept); });
}
template <class T>
future<T> async(coroutine<T> c) {
  return async(nullptr, std::move(c));
}

namespace detail {

template <class>
inline constexpr bool is_coroutine = false;
template <class T>
inline constexpr bool is_coroutine<coroutine<T>> = true;
template <class F>
concept coroutine_body = task_body<F> && is_coroutine < std::invoke_result_t < std::decay_t<F>
& >> ;
template <class F>
using coroutine_result = typename std::invoke_result_t<std::decay_t<F>&>::result_type;

}  // namespace detail

/// The same for a function that makes a coroutine; a copy of it lives as long as the coroutine.
template <detail::coroutine_body F>
auto async(const char* name, F&& f) -> future<detail::coroutine_result<F>> {
  return detail::begin_coroutine<detail::coroutine_result<F>>(name, std::forward<F>(f));
}
template <detail::coroutine_body F>
auto async(F&& f) -> future<detail::coroutine_result<F>> {
  return async(nullptr, std::forward<F>(f));
}

}  // namespace shoal
