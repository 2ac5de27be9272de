// SPDX-License-Identifier: Apache-2.0
// The result of a task that is begun now and asked for later.
// Who may call: tasks. get() and the destructor of a future may switch tasks; async() does not.
// Guarantees: as a task_group of one task.
// Shown by tests/unit/sched/task_test.cpp.
#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/task.hpp"

namespace shoal {

/// The result of a task begun with async(). Move-only; its destructor waits for the task.
template <class T>
class future {
public:
  future() = default;
  future(future&&) noexcept = default;
  future& operator=(future&&) noexcept = default;

  bool valid() const noexcept { return state_ != nullptr; }
  /// Waits and gives the result, or throws what the task threw. Once. May switch.
  T get() {
    SHOAL_ASSERT(valid(), "this future has no task: it was moved from, or get() was called twice");
    const auto mine = std::move(state_);
    mine->group.wait();
    if constexpr (!std::is_void_v<T>) return std::move(*mine->value);
  }

private:
  template <class F>
  friend auto async(F&& f) -> future<std::invoke_result_t<std::decay_t<F>&>>;

  struct shared {
    using stored = std::conditional_t<std::is_void_v<T>, char, T>;
    std::optional<stored> value;
    task_group group;  // last: its destructor waits before the value goes
  };
  std::unique_ptr<shared> state_;
};

/// Begins `f` as a task of this node and gives its future.
template <class F>
auto async(F&& f) -> future<std::invoke_result_t<std::decay_t<F>&>> {
  using result = std::invoke_result_t<std::decay_t<F>&>;
  future<result> made;
  made.state_ = std::make_unique<typename future<result>::shared>();
  made.state_->group.run([state = made.state_.get(), body = std::forward<F>(f)]() mutable {
    if constexpr (std::is_void_v<result>)
      body();
    else
      state->value.emplace(body());
  });
  return made;
}

}  // namespace shoal
