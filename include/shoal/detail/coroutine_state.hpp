// SPDX-License-Identifier: Apache-2.0
// What runs a coroutine as a task (shoal/coroutine.hpp). The root is the shared state of the future that async() gave; all
// coroutines that await each other from there have it. A step resumes the innermost one, and then whichever is to go on, until
// a future that is not ready suspends it, or the outermost one ends. A suspended coroutine may go on elsewhere at once; so the
// step learns from an object on its own stack what comes next. (Returning a handle from await_suspend, which transfers control
// directly, needs more stack with each transfer where the compiler makes no tail calls: unoptimised, or with a sanitizer.)
// Who may call: shoal/coroutine.hpp. Resuming runs the program's code, which may switch tasks.
// Tests: tests/unit/sched/coroutine_test.cpp, tests/stress/coroutine_test.cpp.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/future.hpp"

namespace shoal {

template <class T = void>
class coroutine;

namespace detail {

/// One resumption, on the stack of the step.
struct resumption {
  std::uint64_t issued = issued_count();
  std::coroutine_handle<> next;
  bool ended = false;
};

struct coroutine_root {
  resumption* current = nullptr;  // of the step that runs; only that follows it
  future_state* (*end)(coroutine_root&) noexcept = nullptr;

  future_state* resume(std::coroutine_handle<> at) noexcept {
    resumption here;
    current = &here;
    do {
      at.resume();
      at = std::exchange(here.next, nullptr);
    } while (at);
    if (!here.ended) return nullptr;  // `this` may be gone
    settle(here.issued);
    return end(*this);
  }
};

/// The successor of the future that a coroutine awaits.
struct resume_state final : future_state {
  resume_state() noexcept : future_state(k_kind) {}
  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<resume_state&>(s);
    return self.root->resume(self.at);
  }
  static constexpr future_kind k_kind{.step = step};
  std::coroutine_handle<> at;
  coroutine_root* root = nullptr;
};

template <class T>
struct future_awaiter {
  future<T> awaited;
  coroutine_root* root;
  resume_state resumed{};

  bool await_ready() const noexcept { return awaited.ready(); }
  bool await_suspend(std::coroutine_handle<> me) noexcept {
    settle(root->current->issued);
    future_state& source = future_access::state(awaited);
    resumed.at = me;
    resumed.root = root;
    resumed.name = source.name;
    resumed.number |= source.number & future_state::k_may_be_dropped;
    resumed.group = worker_here().scope;  // not counted: the root is, until it ends
    return attach(source, resumed);
  }
  T await_resume() { return awaited.get(); }
};

template <class Promise>
struct coroutine_awaiter;

struct coroutine_access {
  template <class T>
  static auto take(coroutine<T>& c) noexcept {
    SHOAL_ASSERT(c.at_ != nullptr, "this coroutine was awaited or given to async() before; make another one");
    return std::exchange(c.at_, nullptr);
  }
};

class coroutine_promise_base {
public:
  static void* operator new(std::size_t bytes) { return allocate(worker_here(), bytes); }
  static void operator delete(void* at, std::size_t bytes) noexcept {
    t_worker != nullptr ? deallocate(*t_worker, at, bytes) : deallocate_outside(at, bytes);
  }

  struct at_end {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> me) const noexcept {
      const coroutine_promise_base& p = me.promise();
      resumption& step = *p.root->current;
      if (p.next != nullptr)
        step.next = p.next;
      else
        step.ended = true;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  at_end final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { thrown = std::current_exception(); }

  template <class U>
  future_awaiter<U> await_transform(future<U> f) {
    f = settled(std::move(f));
    return {std::move(f), root};
  }
  template <class U>
  auto await_transform(coroutine<U> c) noexcept {
    return coroutine_awaiter<typename coroutine<U>::promise_type>(coroutine_access::take(c), root);
  }

  coroutine_root* root = nullptr;
  std::coroutine_handle<> next;  // awaits the end of this one; nullptr: the root does
  std::exception_ptr thrown;
};

template <class T>
class coroutine_promise final : public coroutine_promise_base {
public:
  coroutine<T> get_return_object() noexcept {
    return coroutine<T>(std::coroutine_handle<coroutine_promise>::from_promise(*this));
  }
  template <class U>
  requires std::is_constructible_v<T, U>
  void return_value(U&& v) { value.emplace(std::forward<U>(v)); }

  T take() {
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
    return std::move(*value);
  }
  std::optional<T> value;
};

template <>
class coroutine_promise<void> final : public coroutine_promise_base {
public:
  coroutine<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() {
    if (thrown) std::rethrow_exception(std::exchange(thrown, nullptr));
  }
};

template <class Promise>
struct coroutine_awaiter {
  coroutine_awaiter(std::coroutine_handle<Promise> c, coroutine_root* r) noexcept : at(c), root(r) {}
  coroutine_awaiter(const coroutine_awaiter&) = delete;
  coroutine_awaiter& operator=(const coroutine_awaiter&) = delete;
  ~coroutine_awaiter() { at.destroy(); }

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> me) const noexcept {
    at.promise().root = root;
    at.promise().next = me;
    root->current->next = at;
  }
  decltype(auto) await_resume() const { return at.promise().take(); }

  std::coroutine_handle<Promise> at;
  coroutine_root* root;
};

/// A body that makes a coroutine when its task begins; it lives as long as that.
template <class T, class Body>
struct coroutine_state final : future_value<T>, coroutine_root {
  template <class F>
  explicit coroutine_state(std::in_place_t, F&& f) : future_value<T>(k_kind), body(std::in_place, std::forward<F>(f)) {
    this->coroutine_root::end = take_result;
  }

  static future_state* take_result(coroutine_root& r) noexcept {
    auto& self = static_cast<coroutine_state&>(r);
    try {
      if constexpr (std::is_void_v<T>) {
        self.at.promise().take();
        self.value.emplace();
      } else {
        self.value.emplace(self.at.promise().take());
      }
    } catch (...) {
      self.thrown = std::current_exception();
    }
    self.at.destroy();
    self.body.reset();
    return finish(self);
  }
  static future_state* step(future_state& s) noexcept {
    auto& self = static_cast<coroutine_state&>(s);
    if (self.begin()) [[likely]]
      return self.resume(self.at);
    self.body.reset();
    return finish(self);
  }
  bool begin() noexcept {
    try {
      coroutine<T> made = (*body)();
      at = coroutine_access::take(made);
      at.promise().root = this;
      return true;
    } catch (...) {  // no memory for the frame
      this->thrown = std::current_exception();
      return false;
    }
  }
  static constexpr future_kind k_kind{.step = step, .dispose = dispose_of<coroutine_state>};

  std::optional<Body> body;
  std::coroutine_handle<coroutine_promise<T>> at;
};

template <class T, class Body>
future<T> begin_coroutine(const char* name, Body&& body) {
  worker_base& w = worker_here();
  auto* const made = make_state<coroutine_state<T, std::decay_t<Body>>>(std::in_place, std::forward<Body>(body));
  made->name = name;
  made->enter_scope();
  try {
    spawn(w, *made);
  } catch (...) {  // no memory to enlarge the deque
    leave_scope(*made);
    made->of->dispose(*made);
    throw;
  }
  return future_access::make<T>(made);
}

}  // namespace detail

}  // namespace shoal
