// SPDX-License-Identifier: Apache-2.0
// A call that blocks its thread (a read from a pipe, a std::mutex that is held for long, a library that waits), made by a
// task: blocking() runs it on a thread of its own while the task waits, and the worker goes on with everything else.
//   const ssize_t n = shoal::blocking([&] { return ::read(socket, buffer, size); });   // errno is that of the call
// Who may call: tasks, which switch; threads that are no workers run the function at once.
// Guarantees: it returns what the function returns, or throws what it throws. The function may use what the task has on its
// stack. Calls that exceed the setting blocking_threads (512) wait for their turn, first come, first served.
// Limits: the function runs on another thread: it is no task (of Shoal it calls nothing but set_value() and set_exception()
// of promises), and it has other thread_local values; what belongs to a thread, as a std::mutex does, is taken and given
// back within one call.
// Costs: two wake-ups of threads, some 10 us; not for calls that take less. An idle thread ends after 10 s.
// Why not a spare worker: docs/decisions/0029-blocking-calls.md. Tests: tests/unit/sched/blocking_test.cpp.
#pragma once

#include <cerrno>
#include <concepts>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "shoal/detail/worker.hpp"

namespace shoal {

namespace detail {
/// Has function(argument) called on a thread of the pool; it must not throw. May switch. Throws shoal::error (exhausted) if
/// the system refuses the first thread, before it is called.
void call_blocking(void (*function)(void*) noexcept, void* argument);
}  // namespace detail

template <class F>
requires std::invocable<F&>
auto blocking(F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<result>, "a blocking call gives a value or nothing; give a pointer");
  if (detail::t_worker == nullptr) return f();
  using stored = std::conditional_t<std::is_void_v<result>, bool, result>;
  struct call {
    std::remove_reference_t<F>* body;
    std::optional<stored> value;
    std::exception_ptr thrown;
    int error_number;
  } mine{std::addressof(f), std::nullopt, nullptr, errno};
  detail::call_blocking(
      [](void* raw) noexcept {
        auto& self = *static_cast<call*>(raw);
        errno = self.error_number;
        try {
          if constexpr (std::is_void_v<result>)
            (*self.body)();
          else
            self.value.emplace((*self.body)());
        } catch (...) {
          self.thrown = std::current_exception();
        }
        self.error_number = errno;
      },
      &mine);
  errno = mine.error_number;
  if (mine.thrown) std::rethrow_exception(std::exchange(mine.thrown, nullptr));
  if constexpr (!std::is_void_v<result>) return std::move(*mine.value);
}

}  // namespace shoal
