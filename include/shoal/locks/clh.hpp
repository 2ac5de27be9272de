// SPDX-License-Identifier: Apache-2.0
// The CLH queue lock: first-in, first-out; each waiter waits at its predecessor's node. The lock contains
// `most_threads` nodes; a thread picks a free one, usually the one that it used last. More threads may use the lock,
// but the additional threads wait for a free node, in no particular order.
// Who may call: any thread, or tasks with task_wait. lock() waits according to the policy; the class is ignored. Must
// outlive every unlock() that has begun. try_lock() also fails while no node is free.
// Craig (1993); Magnusson, Landin & Hagersten, "Queue locks on cache coherent multiprocessors" (1994).
// Test: tests/unit/locks/kinds_test.cpp, model: tests/model/locks_test.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "shoal/detail/wait_cell.hpp"
#include "shoal/locks/thread_wait.hpp"

namespace shoal {

template <class Wait = adaptive_wait, class Atomics = lockfree::std_atomics>
class clh_lock {
public:
  static constexpr unsigned k_most_threads = 64;

  explicit clh_lock(unsigned most_threads = k_most_threads)
      : count_(std::clamp(most_threads, 1U, k_mask - 1) + 1), nodes_(std::make_unique<node[]>(count_)) {
    nodes_[0].used.store(1, std::memory_order_relaxed);  // initially the tail: a released node
    nodes_[0].over.grant();
  }
  clh_lock(const clh_lock&) = delete;
  clh_lock& operator=(const clh_lock&) = delete;

  void lock(unsigned = 0) {
    node* mine = pick();
    for (unsigned round = 0; mine == nullptr; mine = pick()) Wait::give_way(round++);
    mine->over.reset();
    // Release: the successor finds the node reset. Acquire: the predecessor's node is reset as well.
    node& before = at(tail_.exchange(name(*mine), std::memory_order_acq_rel));
    before.over.wait(this);
    take(*mine, before);
  }

  bool try_lock() {
    std::uint64_t last =
        tail_.load(std::memory_order_acquire);  // partner: the exchange or compare-and-swap that stored the tail
    node& before = at(last);
    // The node may be reused by now; then the tail has another name, and the compare-and-swap below fails.
    if (!before.over.granted()) return false;
    node* mine = pick();
    if (mine == nullptr) return false;
    mine->over.reset();
    if (!tail_.compare_exchange_strong(last, name(*mine), std::memory_order_release, std::memory_order_relaxed)) {
      mine->used.store(0, std::memory_order_release);
      return false;
    }
    take(*mine, before);
    return true;
  }

  void unlock() { holder_.read()->over.grant(); }

private:
  template <class T>
  using plain = typename Atomics::template plain<T>;

  struct alignas(lockfree::k_cache_line_bytes) node {
    detail::wait_cell<Wait, Atomics> over;  // granted when its owner has unlocked
    typename Atomics::template atomic<std::uint32_t> used{0};
    plain<std::uint64_t> uses{0};  // guarded by used
  };
  static constexpr unsigned k_mask = (1U << 16) - 1;

  // Encodes the node and its use count, so that a tail value never recurs.
  std::uint64_t name(node& n) { return (n.uses.read() << 16) | static_cast<std::uint64_t>(&n - nodes_.get()); }
  node& at(std::uint64_t named) { return nodes_[named & k_mask]; }

  // Returns a free node, or null. Partner of the acquire: the thread that released it after its last access.
  node* pick() {
    const std::size_t from = Wait::place() % count_;
    for (std::size_t i = 0; i < count_; ++i) {
      node& n = nodes_[from + i < count_ ? from + i : from + i - count_];
      if (n.used.load(std::memory_order_relaxed) != 0 || n.used.exchange(1, std::memory_order_acquire) != 0) continue;
      n.uses.write(n.uses.read() + 1);
      return &n;
    }
    return nullptr;
  }

  // The node before belonged to the last owner; no thread waits at it now.
  void take(node& mine, node& before) {
    holder_.write(&mine);
    before.used.store(0, std::memory_order_release);
  }

  std::size_t count_;
  std::unique_ptr<node[]> nodes_;
  typename Atomics::template atomic<std::uint64_t> tail_{0};
  plain<node*> holder_{nullptr};  // guarded by the lock itself
};

}  // namespace shoal
