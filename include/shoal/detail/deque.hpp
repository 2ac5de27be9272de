// SPDX-License-Identifier: Apache-2.0
// Work-stealing deque of pointers: its owner pushes and pops at the bottom, thieves steal at the top.
// push, pop, bottom_item: the owning thread only. steal, seems_empty, size_estimate: any thread. Nothing waits, nothing
// switches tasks; only a growing push allocates (and may throw std::bad_alloc, leaving the deque as it was).
// Guarantees: each pushed item is returned once, by one pop or one steal; what was written before its push is visible
// to whoever gets it. A thief that lost a race is told so (`lost`), which is not `empty`. Arrays outgrown are kept
// until destruction, since a thief may still read them. Not guaranteed: fairness among thieves.
// Chase & Lev, "Dynamic circular work-stealing deque" (2005); memory orders after Le, Pop, Cohen & Zappa Nardelli,
// "Correct and efficient work-stealing for weak memory models" (2013), adapted to the fences and release sequences of
// C++20. Shown by tests/model/deque_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

enum class steal_outcome : std::uint8_t {
  won,    // the item is the caller's
  empty,  // there was nothing to take
  lost,   // there was something, and another thread took it: trying again is worth while
};

template <class T>
struct steal_result {
  T* item;  // nullptr unless won
  steal_outcome outcome;
};

template <class T, class Atomics = std_atomics>
class deque {
public:
  static constexpr std::size_t k_default_capacity = 1024;

  // The capacity is rounded up to a power of two; it is where growth begins, not a bound.
  explicit deque(std::size_t initial_capacity = k_default_capacity)
      : newest_(std::make_unique<ring>(std::bit_ceil(initial_capacity < 2 ? 2 : initial_capacity), nullptr)),
        shared_ring_(newest_.get()) {
    adopt_newest(0);
  }
  deque(const deque&) = delete;
  deque& operator=(const deque&) = delete;

  // Owner. The release lets a thief that sees the new bottom (steal) see the slot and what the item points to.
  void push(T* item) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    if (b >= full_at_) [[unlikely]]
      make_room(b);
    slots_[static_cast<std::size_t>(b) & mask_].store(item, std::memory_order_relaxed);
    bottom_.store(b + 1, std::memory_order_release);
  }

  // Owner; last in, first out. nullptr: empty, or a thief took the last item.
  // Lowering the bottom and then reading the top is one half of a Dekker pair; the other is in steal(). (On x86 the
  // fence costs 2.4 to 3.2 ns, an exchange of the bottom instead 2.8 to 3.1, mfence 22.) All stores to the bottom are
  // releases: a thief may read any of them and take an item that an earlier one published.
  T* pop() {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    // The top only rises: having seen it above b is enough to know that there is nothing, without a fence.
    if (top_.load(std::memory_order_relaxed) > b) return nullptr;
    bottom_.store(b, std::memory_order_release);
    Atomics::fence(std::memory_order_seq_cst);
    std::int64_t t = top_.load(std::memory_order_relaxed);
    T* item = slots_[static_cast<std::size_t>(b) & mask_].load(std::memory_order_relaxed);
    if (t < b) [[likely]]
      return item;
    // At most one item was left, and thieves may be after it: who moves the top has it.
    if (t > b || !top_.compare_exchange_strong(t, t + 1, std::memory_order_release, std::memory_order_relaxed))
      item = nullptr;
    bottom_.store(b + 1, std::memory_order_release);
    return item;
  }

  // Owner: what the next pop returns unless a thief is faster; nullptr if it would return nothing. No fence: a join
  // asks this before it pops, so as to pop nothing but its own child.
  T* bottom_item() const {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    if (top_.load(std::memory_order_relaxed) > b) return nullptr;
    return slots_[static_cast<std::size_t>(b) & mask_].load(std::memory_order_relaxed);
  }

  // Any thread; first in, first out.
  steal_result<T> steal() {
    // Partner: the exchanges of the top, here and in pop(): we know of the lowered bottom that went with it.
    std::int64_t t = top_.load(std::memory_order_acquire);
    // Partner: the fence in pop(). Either we see the lowered bottom, or the owner sees the top as we know it.
    Atomics::fence(std::memory_order_seq_cst);
    const std::int64_t b = bottom_.load(std::memory_order_acquire);
    if (t >= b) return {nullptr, steal_outcome::empty};
    T* item = shared_ring_.load(std::memory_order_acquire)->slot(t).load(std::memory_order_relaxed);
    // Partner of the release: make_room(), which lets the slot be filled again only after we have read it. If that has
    // happened meanwhile the top has moved on, and we lose.
    if (!top_.compare_exchange_strong(t, t + 1, std::memory_order_release, std::memory_order_relaxed))
      return {nullptr, steal_outcome::lost};
    return {item, steal_outcome::won};
  }

  // Any thread; a hint that may be out of date when it returns.
  std::size_t size_estimate() const {
    const std::int64_t t = top_.load(std::memory_order_relaxed);
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    return b > t ? static_cast<std::size_t>(b - t) : 0;
  }
  bool seems_empty() const { return size_estimate() == 0; }

  // Owner.
  std::size_t capacity() const { return mask_ + 1; }

private:
  template <class U>
  using atomic = typename Atomics::template atomic<U>;

  struct ring {
    ring(std::size_t capacity, std::unique_ptr<ring> outgrown)
        : slots(std::make_unique<atomic<T*>[]>(capacity)), mask(capacity - 1), older(std::move(outgrown)) {}
    atomic<T*>& slot(std::int64_t i) { return slots[static_cast<std::size_t>(i) & mask]; }

    const std::unique_ptr<atomic<T*>[]> slots;
    const std::size_t mask;
    std::unique_ptr<ring> older;
  };

  void adopt_newest(std::int64_t top) {
    slots_ = newest_->slots.get();
    mask_ = newest_->mask;
    full_at_ = top + static_cast<std::int64_t>(newest_->mask + 1);
  }

  // Owner, out of the fast path: learns how far thieves have come; doubles the array if it is full indeed.
  [[gnu::noinline, gnu::cold]] void make_room(std::int64_t b) {
    // Partner: the exchange of the top in steal(). A slot is reused only after the thief that emptied it has read it.
    const std::int64_t t = top_.load(std::memory_order_acquire);
    full_at_ = t + static_cast<std::int64_t>(mask_ + 1);
    if (b < full_at_) return;
    auto grown = std::make_unique<ring>(2 * (mask_ + 1), nullptr);
    for (std::int64_t i = t; i < b; ++i)
      grown->slot(i).store(newest_->slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    grown->older = std::move(newest_);
    newest_ = std::move(grown);
    adopt_newest(t);
    shared_ring_.store(newest_.get(), std::memory_order_release);  // partner: steal()
  }

  // Thieves write here ...
  alignas(k_cache_line_bytes) atomic<std::int64_t> top_{0};
  // ... and the owner here; thieves read bottom_ and, hardly ever changing, shared_ring_.
  alignas(k_cache_line_bytes) atomic<std::int64_t> bottom_{0};
  atomic<T*>* slots_ = nullptr;  // the owner's copies of what newest_ holds
  std::size_t mask_ = 0;
  std::int64_t full_at_ = 0;  // the bottom at which push must look at the top again
  std::unique_ptr<ring> newest_;
  atomic<ring*> shared_ring_;
};

}  // namespace shoal::lockfree
