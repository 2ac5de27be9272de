// SPDX-License-Identifier: Apache-2.0
// Promises and futures that nodes share: a value that one task of any node sets, once, and tasks of all nodes wait for.
//   shoal::global_result<int> answer;                                  // owns the state, on this node
//   shoal::async_on(1, [p = answer.promise()] { p.set_value(42); });
//   const int x = shoal::on(2, [f = answer.future()] { return f.get(); });
// Who may call: tasks. get(), wait(), set_value() and set_exception() switch; so may the others when buffers are full.
// Guarantees: who waits sends one message, once, and is answered by one; its worker runs others. What the setter did
// before set_value() (bare verbs) is seen by whoever has the value. Errors: a second set_ throws shoal::error
// (invalid_argument); get() throws the exception that was set as shoal::remote_error. What uses a promise after its
// global_result is gone throws not_found and names it; who waits then gets `abandoned`. Numbers are never used again.
// The loss of a node ends the job. Complexity: a message and an answer; for the setter also one per waiting future.
// Shown by tests/cluster/global_promise_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/future.hpp"
#include "shoal/on.hpp"

namespace shoal {

namespace detail {

/// What names a promise on all nodes. The number: 0 is none; a node gives each once.
struct promise_name {
  std::uint64_t number = 0;
  std::uint32_t node = 0;
  std::uint32_t unused = 0;  // no byte is undefined: names travel

  friend bool operator==(const promise_name&, const promise_name&) = default;
};

promise_name make_shared_promise();
/// On its node. Who waits gets shoal::error (abandoned).
void free_shared_promise(const promise_name& name);
/// On its node, as a task: answers all who wait.
void set_shared_promise(std::uint64_t number, std::span<const std::uint64_t> value);
/// On any node.
void set_shared_promise(const promise_name& name, const std::exception_ptr& thrown);
/// On any node: counts one operation in `calls`, which ends when the value is at `target`, or fails.
void ask_shared_promise(completion& calls, const promise_name& name, void* target);

template <class T>
struct promised_value {
  static_assert(std::is_trivially_copyable_v<T>, "a value that travels between nodes must be trivially copyable");
  static constexpr std::size_t k_most_bytes = 8192;
  static_assert(sizeof(T) <= k_most_bytes, "a global promise has at most 8 KiB: put more into a global array");
};
template <>
struct promised_value<void> {};

}  // namespace detail

/// Trivially copyable, 16 bytes; empty or of a global_result. Copies are of the same promise.
template <class T>
class global_promise : detail::promised_value<T> {
public:
  global_promise() = default;

  explicit operator bool() const noexcept { return name_.number != 0; }
  friend bool operator==(const global_promise& a, const global_promise& b) noexcept { return a.name_ == b.name_; }

  /// Complete when it returns: who waits has been answered.
  template <class... Value>
  requires std::constructible_from<detail::stored<T>, Value...>
  void set_value(const Value&... value) const { on(checked_node(), setting(value...)); }
  /// The same later: an error of the setting is in the future.
  template <class... Value>
  requires std::constructible_from<detail::stored<T>, Value...> shoal::future<void> async_set_value(
      const Value&... value)
  const { return async_on(checked_node(), setting(value...)); }
  void set_exception(const std::exception_ptr& thrown) const {
    checked_node();
    SHOAL_ASSERT(thrown != nullptr, "a promise is set to an exception, and this is none");
    detail::set_shared_promise(name_, thrown);
  }

private:
  template <class>
  friend class global_result;
  explicit global_promise(const detail::promise_name& name) noexcept : name_(name) {}

  std::uint32_t checked_node() const noexcept {
    SHOAL_ASSERT(name_.number != 0, "an empty shoal::global_promise cannot be set");
    return name_.node;
  }
  template <class... Value>
  auto setting(const Value&... value) const {
    if constexpr (std::is_void_v<T>)
      return [number = name_.number] { detail::set_shared_promise(number, std::span<const std::uint64_t>()); };
    else
      return [number = name_.number, sent = T(value...)] {
        std::array<std::uint64_t, detail::packed<T>::k_words> words;
        detail::packed<T>::write(sent, words.data());
        detail::set_shared_promise(number, words);
      };
  }

  detail::promise_name name_;
};

/// Trivially copyable, 16 bytes; empty or of a global_result. Any number of tasks may wait, each as often as it likes.
template <class T>
class global_future : detail::promised_value<T> {
public:
  global_future() = default;

  explicit operator bool() const noexcept { return name_.number != 0; }
  friend bool operator==(const global_future& a, const global_future& b) noexcept { return a.name_ == b.name_; }

  /// The value, or the exception that was set.
  T get() const { return local().get(); }
  void wait() const { local().wait(); }
  /// Asks for the value: a future of this node, for ready(), then() and when_all(). It may be dropped.
  shoal::future<T> local() const {
    SHOAL_ASSERT(name_.number != 0, "an empty shoal::global_future has no value");
    auto* const made = detail::make_state<detail::on_state<T>>();
    made->number |= detail::future_state::k_may_be_dropped;
    void* target = made->room.data();
    if constexpr (std::is_void_v<T>) target = made;  // nothing is written there
    try {
      detail::ask_shared_promise(made->calls, name_, target);
    } catch (...) {  // no memory for the message
      made->of->dispose(*made);
      throw;
    }
    return detail::expect_reply(*made);
  }
  /// Starts `f` with the value (none for void) as a task of this node, when it is there.
  template <class F>
  requires detail::continuation_of<F, T>
  auto then(F&& f) const -> shoal::future<detail::continuation_result<F, T>> {
    return local().then(std::forward<F>(f));
  }

private:
  template <class>
  friend class global_result;
  explicit global_future(const detail::promise_name& name) noexcept : name_(name) {}

  detail::promise_name name_;
};

/// Owns the state of a promise and its futures, on the node that makes it; destroyed there, when nobody uses them any
/// more. Move-only.
template <class T>
class global_result {
public:
  global_result() : name_(detail::make_shared_promise()) {}
  global_result(global_result&& other) noexcept : name_(std::exchange(other.name_, {})) {}
  global_result& operator=(global_result&& other) noexcept {
    std::swap(name_, other.name_);
    return *this;
  }
  ~global_result() {
    if (name_.number != 0) detail::free_shared_promise(name_);
  }

  global_promise<T> promise() const noexcept { return global_promise<T>(name_); }
  global_future<T> future() const noexcept { return global_future<T>(name_); }

private:
  detail::promise_name name_;
};

/// A future, on this node, of the values of all; see when_all() of shoal/future.hpp.
template <class... Ts>
requires(sizeof...(Ts) > 0) auto when_all(const global_future<Ts>&... futures) { return when_all(futures.local()...); }
template <class T>
auto when_all(const std::vector<global_future<T>>& futures) {
  std::vector<future<T>> asked;
  asked.reserve(futures.size());
  for (const global_future<T>& f : futures) asked.push_back(f.local());
  return when_all(std::move(asked));
}

}  // namespace shoal
