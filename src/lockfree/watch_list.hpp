// SPDX-License-Identifier: Apache-2.0
// The list of those that a receiver looks at, which another thread may look through before it sleeps: a receiver's
// worker while a sibling serves in its place.
// Who may call: seems(): any thread; the others: the thread that serves, one at a time, and between begin_change() and
// end_change() where the list changes. Nothing waits or switches.
// Guarantees: seems(f) is true if f(x) is for one on the list, or if the list changes meanwhile: then the caller looks
// again. The entries are in the caller's memory, which is zeros at first, and has room for all.
// Tests: tests/model/announcements_test.cpp, tests/unit/remote/server_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class T, class Atomics = std_atomics>
class watch_list {
public:
  using entry = typename Atomics::template atomic<T*>;

  explicit watch_list(entry* room) noexcept : entries_(room) {}

  std::size_t size() const { return size_.load(std::memory_order_relaxed); }
  T& operator[](std::size_t i) const { return *entries_[i].load(std::memory_order_relaxed); }

  // Odd: the list changes. Partner of the releases, here and below: seems().
  void begin_change() { version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  void end_change() { version_.store(version_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  void add(T& one) {
    const std::size_t n = size();
    entries_[n].store(&one, std::memory_order_release);
    size_.store(n + 1, std::memory_order_relaxed);  // who sees it without the entry looks again
  }
  // The last one takes the place of entry i.
  void remove(std::size_t i) {
    const std::size_t last = size() - 1;
    entries_[i].store(entries_[last].load(std::memory_order_relaxed), std::memory_order_release);
    size_.store(last, std::memory_order_release);
  }

  template <class Seems>
  bool seems(const Seems& f) const {
    const std::uint64_t before = version_.load(std::memory_order_acquire);
    if (before % 2 != 0) return true;
    // Acquire: what comes of a change is not seen without its begin.
    const std::size_t n = size_.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < n; ++i)
      if (const T* const one = entries_[i].load(std::memory_order_acquire); one == nullptr || f(*one)) return true;
    return version_.load(std::memory_order_relaxed) != before;
  }

private:
  entry* entries_;
  typename Atomics::template atomic<std::size_t> size_{0};
  typename Atomics::template atomic<std::uint64_t> version_{0};
};

}  // namespace shoal::lockfree
