// SPDX-License-Identifier: Apache-2.0
// Work-stealing deque of pointers: its owner pushes and pops at the bottom, thieves steal at the top.
// push, pop, pop_if: the owning thread only. steal, steal_batch, seems_empty, size_estimate: any thread. Nothing
// waits or switches tasks; only a growing push allocates (it may throw std::bad_alloc and then changes nothing).
// Guarantees: each pushed item is returned once, by one pop or one steal; what was written before its push is visible
// to whoever gets it. A thief that lost a race is told so (`lost`), which is not `empty`. Arrays outgrown are kept
// until destruction, since a thief may still read them. Not guaranteed: fairness among thieves.
// Chase & Lev, "Dynamic circular work-stealing deque" (2005); memory orders after Le, Pop, Cohen & Zappa Nardelli,
// "Correct and efficient work-stealing for weak memory models" (2013), adapted to the fences and release sequences of
// C++20. Shown by tests/model/deque_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
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
    reserve();
    push_reserved(item);
  }
  // Owner. The next push needs no memory.
  void reserve() {
    if (const std::int64_t b = bottom_.load(std::memory_order_relaxed); b >= full_at_) [[unlikely]]
      make_room(b);
  }
  // Owner, after reserve().
  void push_reserved(T* item) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    slots_[static_cast<std::size_t>(b) & mask_].store(item, std::memory_order_relaxed);
    bottom_.store(b + 1, std::memory_order_release);
  }

  // Owner; last in, first out. nullptr: empty, or a thief took the last item.
  // Lowering the bottom and then reading the top is one half of a Dekker pair; the other is in look(). (On x86 the
  // fence costs 2.4 to 3.2 ns, an exchange of the bottom instead 2.8 to 3.1, mfence 22.) All stores to the bottom are
  // releases: a thief may read any of them and take an item that an earlier one published.
  T* pop() {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    // The top only rises: having seen it above b is enough to know that there is nothing, without a fence.
    if (is_taken(top_.load(std::memory_order_relaxed), b)) return nullptr;
    bottom_.store(b, std::memory_order_release);
    Atomics::fence(std::memory_order_seq_cst);
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    if (b > last_wanted(top)) [[likely]]
      return slots_[static_cast<std::size_t>(b) & mask_].load(std::memory_order_relaxed);
    return pop_contended(b, top);
  }

  // Owner: pops the newest item if it is `item`, which has been pushed once; false: it is not, or a thief has it. A join
  // pops nothing but its own child.
  bool pop_if(const T* item) {
    const std::int64_t b = bottom_.load(std::memory_order_relaxed) - 1;
    // If thieves have taken item b, its slot may still show it; then it is found out below.
    if (slots_[static_cast<std::size_t>(b) & mask_].load(std::memory_order_relaxed) != item) return false;
    bottom_.store(b, std::memory_order_release);
    Atomics::fence(std::memory_order_seq_cst);  // as in pop()
    const std::int64_t top = top_.load(std::memory_order_relaxed);
    if (b > last_wanted(top)) [[likely]]
      return true;
    return pop_contended(b, top) != nullptr;
  }

  // Any thread; first in, first out. Also takes an item that another thief has reserved and not taken yet: that thief
  // loses its batch. So a preempted thief delays no other thread.
  steal_result<T> steal() { return take_oldest(look()); }

  // Any thread. Takes the oldest item and, if there are at least `many` (2 or more), further ones, up to half of them:
  // they go to more[0, taken), the oldest first. It reserves the items, then reads the bottom again: an owner that pops
  // later sees the reservation and takes its item out of it; the owner never waits. Loses to a thief that has reserved
  // items.
  steal_result<T> steal_batch(std::span<T*> more, std::size_t many, std::size_t& taken) {
    taken = 0;
    const view now = look();
    const std::int64_t t = now.oldest;
    if (now.bottom - t < static_cast<std::int64_t>(many)) return take_oldest(now);
    if (is_reserved(now.top)) return {nullptr, steal_outcome::lost};
    std::int64_t count = std::min({(now.bottom - t) / 2, static_cast<std::int64_t>(more.size()) + 1, k_most_reserved});
    std::int64_t top = now.top;
    // Partner: the fence in pop(), once more: an owner that has not seen the reservation has lowered the bottom before,
    // and then the load sees it. (An exchange and a load, since no fence is needed for these on x86.)
    if (!top_.compare_exchange_strong(top, reserved(t, count), std::memory_order_seq_cst, std::memory_order_relaxed))
      return {nullptr, steal_outcome::lost};
    top = reserved(t, count);
    count = std::clamp<std::int64_t>(bottom_.load(std::memory_order_seq_cst) - t, 1, count);
    ring* const items = shared_ring_.load(std::memory_order_acquire);
    T* const item = items->slot(t).load(std::memory_order_relaxed);
    for (std::int64_t i = 1; i < count; ++i)
      more[static_cast<std::size_t>(i - 1)] = items->slot(t + i).load(std::memory_order_relaxed);
    // Partner of the release: make_room(), as in take_oldest().
    while (!top_.compare_exchange_strong(top, free(t + count), std::memory_order_release, std::memory_order_relaxed)) {
      if (first(top) != t) return {nullptr, steal_outcome::lost};
      count = std::min(count, last_wanted(top) - t + 1);  // the owner has taken some out
    }
    taken = static_cast<std::size_t>(count - 1);
    return {item, steal_outcome::won};
  }

  // Any thread; a hint that may be out of date when it returns.
  std::size_t size_estimate() const {
    const std::int64_t t = first(top_.load(std::memory_order_relaxed));
    const std::int64_t b = bottom_.load(std::memory_order_relaxed);
    return b > t ? static_cast<std::size_t>(b - t) : 0;
  }
  bool seems_empty() const { return size_estimate() == 0; }

  // Owner.
  std::size_t capacity() const { return mask_ + 1; }

private:
  template <class U>
  using atomic = typename Atomics::template atomic<U>;

  struct view {
    std::int64_t top;
    std::int64_t oldest;  // first(top)
    std::int64_t bottom;
  };
  // What a thief must know before it takes anything.
  view look() const {
    // Partner: the exchanges of the top, here and in pop(): we know of the lowered bottom that went with it.
    const std::int64_t top = top_.load(std::memory_order_acquire);
    // Partner: the fence in pop(). Either we see the lowered bottom, or the owner sees the top as we know it.
    Atomics::fence(std::memory_order_seq_cst);
    return {top, first(top), bottom_.load(std::memory_order_acquire)};
  }

  steal_result<T> take_oldest(const view& now) {
    if (now.oldest >= now.bottom) return {nullptr, steal_outcome::empty};
    T* const item = shared_ring_.load(std::memory_order_acquire)->slot(now.oldest).load(std::memory_order_relaxed);
    std::int64_t top = now.top;
    // Partner of the release: make_room(), which lets the slot be filled again only after we have read it. If that has
    // happened meanwhile the top has moved on, and we lose.
    if (!top_.compare_exchange_strong(top, free(now.oldest + 1), std::memory_order_release, std::memory_order_relaxed))
      return {nullptr, steal_outcome::lost};
    return {item, steal_outcome::won};
  }

  // The top: the number of the last item that a thief may be about to take; how many items before it are reserved too;
  // whether anything is reserved. Unless something is, that item is the oldest. For each oldest item there is at most
  // one reservation, which only shrinks until the oldest item is taken: so a thief whose exchange succeeds knows that
  // its items are the same. (The last item, not the oldest, is the one that pop compares with.)
  static constexpr int k_number_shift = 7;
  static constexpr std::int64_t k_reserved = 1;
  static constexpr std::int64_t k_most_reserved = 64;
  static constexpr std::int64_t free(std::int64_t t) { return t << k_number_shift; }
  static constexpr std::int64_t reserved(std::int64_t t, std::int64_t count) {
    return free(t + count - 1) | (count - 1) << 1 | k_reserved;
  }
  static constexpr bool is_reserved(std::int64_t top) { return (top & k_reserved) != 0; }
  static constexpr std::int64_t last_wanted(std::int64_t top) { return top >> k_number_shift; }
  static constexpr std::int64_t first(std::int64_t top) {
    return last_wanted(top) - (top >> 1 & (k_most_reserved - 1));
  }
  // Whether thieves have taken item b.
  static constexpr bool is_taken(std::int64_t top, std::int64_t b) { return last_wanted(top) > b && first(top) > b; }

  // Owner: item b is the last one, or a thief has reserved it, or has taken it. The bottom is b.
  [[gnu::noinline]] T* pop_contended(std::int64_t b, std::int64_t top) {
    T* const item = slots_[static_cast<std::size_t>(b) & mask_].load(std::memory_order_relaxed);
    for (;;) {
      const std::int64_t t = first(top);
      if (b > last_wanted(top)) return item;
      if (b < t) break;
      if (b == t) {
        // Thieves may be after the last item: who moves the top has it.
        if (!top_.compare_exchange_strong(top, free(t + 1), std::memory_order_release, std::memory_order_relaxed))
          continue;
        bottom_.store(b + 1, std::memory_order_release);
        return item;
      }
      // Partner: the last exchange in steal_batch().
      if (top_.compare_exchange_strong(top, reserved(t, b - t), std::memory_order_release, std::memory_order_relaxed))
        return item;
    }
    bottom_.store(b + 1, std::memory_order_release);
    return nullptr;
  }

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
    // Partner: the exchange of the top by thieves. A slot is reused only after the thief that emptied it has read it.
    const std::int64_t t = first(top_.load(std::memory_order_acquire));
    full_at_ = t + static_cast<std::int64_t>(mask_ + 1);
    if (b < full_at_) return;
    auto grown = std::make_unique<ring>(2 * (mask_ + 1), nullptr);
    for (std::int64_t i = t; i < b; ++i)
      grown->slot(i).store(newest_->slot(i).load(std::memory_order_relaxed), std::memory_order_relaxed);
    grown->older = std::move(newest_);
    newest_ = std::move(grown);
    adopt_newest(t);
    shared_ring_.store(newest_.get(), std::memory_order_release);  // partner: thieves
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
