// SPDX-License-Identifier: Apache-2.0
// Pointers to single objects on any node: for trees and lists over nodes, whose parts are made one by one.
//   struct tree { shoal::global_ptr<tree> left, right; int key; };
//   const auto leaf = shoal::make_on<tree>(3, tree{{}, {}, 7});          // on node 3
//   root.update([leaf](tree& t) { t.left = leaf; });                     // there, alone with the object
//   const int key = root.get().left.get().key;  ...  leaf.free();
// Who may call: tasks. All switch tasks, but for the async_ forms, which return a shoal::future, and node().
// Guarantees: operations on one object exclude each other, also while a function waits. Functions travel: they capture
// values and handles; one that uses its own object again waits for itself, which the job reports. Errors: what a
// function or a constructor throws arrives as shoal::remote_error; an empty pointer ends the program. Using an object
// that was freed is undefined. Complexity: a call and its answer; on the object's node a lock.
// Shown by tests/cluster/containers_pointer_test.cpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include "shoal/detail/assert.hpp"
#include "shoal/on.hpp"
#include "shoal/sync.hpp"

namespace shoal {

namespace detail {

/// An object and the lock that updates hold: one for tasks, whose functions may wait.
template <class T>
struct lone_object {
  template <class... Arguments>
  explicit lone_object(const Arguments&... arguments) : value{arguments...} {}

  mutex lock;
  T value;
};

}  // namespace detail

/// Trivially copyable, 16 bytes; empty or of an object that make_on() has made. Copies are of the same object.
template <class T>
class global_ptr {
public:
  global_ptr() = default;

  explicit operator bool() const noexcept { return word_ != 0; }
  friend bool operator==(const global_ptr&, const global_ptr&) = default;
  /// Where the object is.
  std::uint32_t node() const noexcept { return node_; }

  T get() const {
    static_assert(std::is_trivially_copyable_v<T>, "such objects cannot be copied between nodes: use update()");
    return update([](T& value) { return value; });
  }
  void put(const T& value) const {
    static_assert(std::is_trivially_copyable_v<T>, "such objects cannot be copied between nodes: use update()");
    update([value](T& there) { there = value; });
  }
  /// Calls f(object) where the object is; returns what f returns.
  template <class F>
  auto update(const F& f) const -> std::invoke_result_t<const F&, T&> {
    return on(checked_node(), [self = *this, f] { return self.with(f); });
  }

  future<T> async_get() const {
    static_assert(std::is_trivially_copyable_v<T>, "such objects cannot be copied between nodes: use update()");
    return async_update([](T& value) { return value; });
  }
  template <class F>
  auto async_update(const F& f) const -> future<std::invoke_result_t<const F&, T&>> {
    return async_on(checked_node(), [self = *this, f] { return self.with(f); });
  }

  /// Destroys the object. Nobody uses it meanwhile or afterwards.
  void free() const {
    on(checked_node(), [self = *this] { delete self.object(); });
  }

private:
  template <class U, class... Arguments>
  friend global_ptr<U> make_on(std::uint32_t node, const Arguments&... arguments);

  using object_type = detail::lone_object<T>;

  // Checked builds refuse captured words that are addresses in this process: it is kept inverted.
  global_ptr(std::uint32_t node, object_type* object) noexcept
      : word_(~static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(object))), node_(node) {}
  object_type* object() const noexcept { return reinterpret_cast<object_type*>(~word_); }

  std::uint32_t checked_node() const noexcept {
    SHOAL_ASSERT(word_ != 0, "an empty shoal::global_ptr has no object");
    return node_;
  }
  template <class F>
  auto with(const F& f) const -> std::invoke_result_t<const F&, T&> {
    object_type& o = *object();
    const std::scoped_lock hold(o.lock);
    return f(o.value);
  }

  std::uint64_t word_ = 0;
  std::uint32_t node_ = 0;
  std::uint32_t unused_ = 0;  // no byte is undefined: pointers travel, and may be keys
};

/// Makes T{arguments...} on `node`; they travel: trivially copyable. Freed by free() only.
template <class T, class... Arguments>
global_ptr<T> make_on(std::uint32_t node, const Arguments&... arguments) {
  return on(node, [arguments...] { return global_ptr<T>(node_id(), new detail::lone_object<T>(arguments...)); });
}

}  // namespace shoal
