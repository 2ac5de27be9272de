// SPDX-License-Identifier: Apache-2.0
// A stack of a size of its own, for a task that recurses deeply or has large local objects:
//   group.run(shoal::stack_bytes(1 << 20), [] { search(root); });        // async() and parallel_for() take it, too
//   shoal::call_with_stack(shoal::stack_bytes(1 << 20), [] { search(root); });
// Who may call: stack_bytes anybody, the rest tasks. call_with_stack() may switch tasks.
// Guarantees: when the body starts, at least the requested bytes of stack are free. If the current stack has that much
// room left (and is not the thread's own), the body is a plain call. Otherwise it runs on a fresh stack of 64 KiB,
// 256 KiB, 1, 4, 16 or 64 MiB, on the same worker, and the caller's stack waits; this holds for inline children, too.
// Only touched pages take memory. Requests above 64 MiB throw shoal::error. If no stack is free, the task waits until
// another task of this worker gives one back; if no task of this worker has one, the request throws shoal::error.
// Tests: tests/unit/sched/stack_bytes_test.cpp.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace shoal {

namespace detail {

[[noreturn]] void refuse_stack_bytes(std::size_t bytes);
/// Runs function(argument) with so many free bytes of stack. Throws only before it starts the function. May switch.
void call_on_stack(std::size_t bytes, void (*function)(void*) noexcept, void* argument);

}  // namespace detail

/// The stack that a task, the tasks of a group, or each piece of a loop needs, in bytes; 0: no requirement.
class stack_bytes {
public:
  static constexpr std::size_t k_most = std::size_t{64} << 20;

  constexpr explicit stack_bytes(std::size_t bytes) : bytes_(bytes) {
    if (bytes > k_most) detail::refuse_stack_bytes(bytes);
  }
  constexpr std::size_t value() const noexcept { return bytes_; }

private:
  std::size_t bytes_;
};

/// Calls `f` with so many free bytes of stack; returns its result or throws its exception.
template <class F>
requires std::is_invocable_v<F&>
auto call_with_stack(stack_bytes stack, F&& f) -> std::invoke_result_t<F&> {
  using result = std::invoke_result_t<F&>;
  static_assert(!std::is_reference_v<result>, "a call on another stack gives a value or nothing; give a pointer");
  using stored = std::conditional_t<std::is_void_v<result>, bool, result>;
  struct call {
    std::remove_reference_t<F>* body;
    std::optional<stored> value;
    std::exception_ptr thrown;
  } mine{std::addressof(f), std::nullopt, nullptr};
  detail::call_on_stack(
      stack.value(),
      [](void* raw) noexcept {
        auto& self = *static_cast<call*>(raw);
        try {
          if constexpr (std::is_void_v<result>)
            std::invoke(*self.body);
          else
            self.value.emplace(std::invoke(*self.body));
        } catch (...) {
          self.thrown = std::current_exception();
        }
      },
      &mine);
  if (mine.thrown) std::rethrow_exception(std::exchange(mine.thrown, nullptr));
  if constexpr (!std::is_void_v<result>) return std::move(*mine.value);
}

namespace detail {

/// A task's body, called with the stack that it needs.
template <class F>
struct body_on_stack {
  stack_bytes stack;
  F body;
  decltype(auto) operator()() { return call_with_stack(stack, body); }
};

}  // namespace detail

}  // namespace shoal
