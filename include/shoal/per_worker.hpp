// SPDX-License-Identifier: Apache-2.0
// A value for each worker of the pool, which its tasks use without a lock, and the combination of these values.
//   shoal::per_worker<std::vector<int>> found;
//   shoal::parallel_for(n, [&](int i) { if (good(i)) found.local().push_back(i); });
//   found.combine_each([&](const std::vector<int>& part) { all.insert(all.end(), part.begin(), part.end()); });
// Who may call: tasks of the pool whose task made it. local() and with() do not switch; the rest is for one task, while
// no other one uses the object. A value is made when its worker first asks for it. Limits: what local() gives belongs
// to the caller until it waits: then other tasks of the worker use it, and a movable task (movable.hpp) may continue on
// another worker; call local() again. with(f) checks that f does not wait, and tells ThreadSanitizer the order of the
// tasks of a worker, which it does not see for local(). Errors: what the maker throws; then there is no value. Source:
// oneTBB's enumerable_thread_specific and combinable.
// Tests: tests/unit/sched/per_worker_test.cpp, tests/stress/parallel_test.cpp.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/assert.hpp"
#include "shoal/detail/tsan_ignore.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/sync.hpp"

namespace shoal {

template <class T>
class per_worker {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>, "a worker has an object that it may change");

  // Two lines of 64 bytes: processors fetch them in pairs.
  struct alignas(alignof(T) > 128 ? alignof(T) : 128) cell {
    cell() noexcept {}  // NOLINT(modernize-use-equals-default): of a union it would be deleted
    cell(const cell&) = delete;
    cell& operator=(const cell&) = delete;
    ~cell() { clear(); }
    void clear() noexcept {
      if (std::exchange(made, false)) std::destroy_at(&value);
    }
    union {
      T value;
    };
    bool made = false;
  };

  template <class Value, class Cell>
  class cells_made {
  public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    cells_made() = default;
    cells_made(Cell* at, Cell* end) noexcept : at_(at), end_(end) { skip(); }
    reference operator*() const noexcept { return at_->value; }
    pointer operator->() const noexcept { return &at_->value; }
    cells_made& operator++() noexcept {
      ++at_;
      skip();
      return *this;
    }
    cells_made operator++(int) noexcept { return std::exchange(*this, std::next(*this)); }
    bool operator==(const cells_made& other) const noexcept { return at_ == other.at_; }

  private:
    void skip() noexcept {
      while (at_ != end_ && !at_->made) ++at_;
    }
    Cell* at_ = nullptr;
    Cell* end_ = nullptr;
  };

public:
  using iterator = cells_made<T, cell>;
  using const_iterator = cells_made<const T, const cell>;

  /// Values are T().
  per_worker() requires std::default_initializable<T> : per_worker([] { return T(); }) {}
  /// Values are copies of `initial`.
  explicit per_worker(const T& initial) requires std::copy_constructible<T>
      : per_worker([initial] { return initial; }) {}
  /// Values are what make() gives: called on the worker that asks, by several at once; it does not wait. Copyable.
  template <class Make>
  requires std::is_invocable_r_v<T, Make&>
  explicit per_worker(Make make)
      : make_(std::move(make)), pool_(detail::worker_here().signs), cells_(detail::worker_here().siblings) {}
  per_worker(const per_worker&) = delete;
  per_worker& operator=(const per_worker&) = delete;

  /// The value of the worker that the caller runs on.
  T& local() {
    cell& mine = here();
    if (!mine.made) [[unlikely]]
      make(mine);
    return mine.value;
  }
  /// f(local()), which must not wait; checked builds stop with a message if it does.
  template <class F>
  requires std::invocable<F&, T&>
  decltype(auto) with(F&& f) {
    struct order {  // of the tasks of this worker, which run on several stacks, for ThreadSanitizer
      explicit order(cell& c) noexcept : of(c) { detail::acquire_from(&of); }
      order(const order&) = delete;
      order& operator=(const order&) = delete;
      ~order() { detail::release_to(&of); }
      cell& of;
    } const ordered(here());
    const no_wait scope;
    return f(local());
  }

  // For one task, while no other one uses the object:

  /// Makes the values of the workers that have not asked.
  void make_all() {
    for (cell& c : cells_)
      if (!c.made) make(c);
  }
  /// Destroys the values; the next local() makes one anew.
  void clear() noexcept {
    for (cell& c : cells_) c.clear();
  }
  /// How many values there are: workers that have called local().
  std::size_t size() const noexcept { return static_cast<std::size_t>(std::distance(begin(), end())); }
  bool empty() const noexcept { return begin() == end(); }

  /// The values that there are, in ascending order of the workers.
  iterator begin() noexcept { return {cells_.data(), cells_.data() + cells_.size()}; }
  iterator end() noexcept { return {cells_.data() + cells_.size(), cells_.data() + cells_.size()}; }
  const_iterator begin() const noexcept { return {cells_.data(), cells_.data() + cells_.size()}; }
  const_iterator end() const noexcept { return {cells_.data() + cells_.size(), cells_.data() + cells_.size()}; }

  /// op(...op(op(a, b), c)...) of copies of the values; a new value if there is none.
  template <class Op>
  requires std::is_invocable_r_v<T, Op&, T, const T&> T combine(Op&& op)
  const requires std::copy_constructible<T> {
    auto at = begin();
    if (at == end()) return make_();
    T all = *at;
    while (++at != end()) all = op(std::move(all), *at);
    return all;
  }
  /// f(value) for each value.
  template <class F>
  requires std::invocable<F&, T&>
  void combine_each(F&& f) {
    for (T& value : *this) f(value);
  }
  template <class F>
  requires std::invocable<F&, const T&>
  void combine_each(F&& f) const {
    for (const T& value : *this) f(value);
  }

private:
  cell& here() noexcept {
    const detail::worker_base& w = detail::worker_here();
    SHOAL_ASSERT(w.signs == pool_, "a per_worker is used by a task of another pool; make one in a task of each pool");
    return cells_[w.index];
  }
  [[gnu::noinline]] void make(cell& c) {
    const no_wait scope;  // another task of this worker would make a second one
    ::new (static_cast<void*>(std::addressof(c.value))) T(make_());
    c.made = true;
  }

  std::function<T()> make_;
  const detail::pool_signs* pool_;
  std::vector<cell> cells_;  // of worker i
};

}  // namespace shoal
