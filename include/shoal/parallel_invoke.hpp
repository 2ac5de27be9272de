// SPDX-License-Identifier: Apache-2.0
// Runs two or more functions, possibly at the same time, and returns when all have ended:
//   shoal::parallel_invoke([&] { left(); }, [&] { right(); });
// Who may call: tasks. It may switch. Guarantees: the first function is a plain call, the others are tasks; those that no
// thief has taken are plain calls, too. If several throw, it throws the exception of the first in argument order. All run,
// also in a stop_scope that has been asked to stop.
// Costs: less than a task_group: no memory but the stack. Tests: tests/unit/sched/task_test.cpp.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "shoal/detail/completion.hpp"
#include "shoal/detail/scope.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/task_group.hpp"

namespace shoal {

namespace detail {

/// A body that somebody else keeps.
struct body_ref {
  void (*call)(void*);
  void* body;
};
template <class F>
body_ref refer_to(F& f) noexcept {
  return {[](void* body) { (*static_cast<F*>(body))(); }, const_cast<std::remove_const_t<F>*>(std::addressof(f))};
}
/// parallel_invoke() where the current stack has no room for either: both run on other stacks.
[[gnu::cold]] void invoke_on_other_stacks(body_ref f, body_ref g);

}  // namespace detail

/// Runs `f` and `g`, possibly at the same time; returns when both have ended. May switch. If both throw, it throws the
/// exception of `f`.
template <class F, class G>
requires std::invocable<F&> && std::invocable<G&>
void parallel_invoke(F&& f, G&& g) {
  using second_body = std::remove_reference_t<G>;
  struct second final : detail::task {
    second_body* body = nullptr;
    const detail::scope* scope = nullptr;
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
  };
  std::exception_ptr thrown;
  if (!detail::has_room(detail::worker_here(), detail::stack_address(&thrown))) [[unlikely]] {
    return detail::invoke_on_other_stacks(detail::refer_to(f), detail::refer_to(g));
  }
  second child;
  child.body = std::addressof(g);
  child.scope = detail::t_worker->scope;
  child.run = [](detail::task& t) noexcept {
    auto& self = static_cast<second&>(t);
    if (detail::needs_scope(self.scope)) [[unlikely]] {
      const detail::within_scope scope(self.scope);
      self.call();
    } else {
      self.call();
    }
    self.ended.done();
  };
  detail::spawn(*detail::t_worker, child);
  try {
    f();
  } catch (...) {
    thrown = std::current_exception();
  }
  detail::worker_base& w = *detail::t_worker;
  detail::take_turn(w);
  if (detail::unspawn(w, child)) {
    child.call();
  } else {
    child.ended.add();
    child.ended.wait(detail::wait_kind::children);
  }
  if (thrown) [[unlikely]] {
    child.ended.take_failure();
    std::rethrow_exception(thrown);
  }
  child.ended.rethrow();
}

/// The same for more functions. If several throw, it throws the exception of the first in argument order.
template <class F, class G, class... More>
requires(std::invocable<F&>&& std::invocable<G&> && sizeof...(More) > 0 &&
         (std::invocable<More&> && ...)) void parallel_invoke(F&& f, G&& g, More&&... more) {
  parallel_invoke(f, [&] { parallel_invoke(g, more...); });
}

/// A single function: a plain call.
template <class F>
requires std::invocable<F&>
void parallel_invoke(F&& f) { f(); }

}  // namespace shoal
