// SPDX-License-Identifier: Apache-2.0
// An intrusive list with many producers: other threads use it to hand runnable tasks to a worker.
// Who may call: any thread. Nothing waits, allocates or switches tasks.
// Guarantees: a pushed node is taken once; the taker sees all writes before the push; in what one call takes, nodes of
// one producer keep their order. A node is in one inbox at a time and must live until it is taken. `push` returns
// whether the inbox was empty: between two takes exactly one producer gets `true`.
// The list is only taken as a whole, so there is no ABA problem. (Treiber, "Coping with parallelism", 1986)
// Tests: tests/model/inbox_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
struct inbox_node {
  typename Atomics::template plain<inbox_node*> next{nullptr};
};

template <class Atomics = std_atomics>
class inbox {
public:
  using node = inbox_node<Atomics>;

  inbox() = default;
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  // Partner of the release: the acquire in take_all, also through later pushes (they extend the release sequence).
  bool push(node* pushed) {
    node* newest = newest_.load(std::memory_order_relaxed);
    do {
      pushed->next.write(newest);
    } while (!newest_.compare_exchange_weak(newest, pushed, std::memory_order_release, std::memory_order_relaxed));
    return newest == nullptr;
  }

  // The nodes linked by `next`, oldest first, or nullptr. Read a node's `next` before passing the node on.
  node* take_all() {
    if (empty()) return nullptr;  // does not take the cache line from the producers
    node* from = newest_.exchange(nullptr, std::memory_order_acquire);
    node* oldest = nullptr;
    while (from != nullptr) {
      node* older = from->next.read();
      from->next.write(oldest);
      oldest = from;
      from = older;
    }
    return oldest;
  }

  // A hint; exact if the caller has ordered this load after the push by other means (see doorbell).
  bool empty() const { return newest_.load(std::memory_order_relaxed) == nullptr; }

private:
  alignas(k_cache_line_bytes) typename Atomics::template atomic<node*> newest_{nullptr};
};

}  // namespace shoal::lockfree
