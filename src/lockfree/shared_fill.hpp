// SPDX-License-Identifier: Apache-2.0
// A buffer that several threads fill at the same time: each claims room by an atomic addition, copies, and says so. Whoever
// claims more than is left closes the buffer; of the threads that copy or close, the last one posts it.
//   writer:  const auto c = fill.claim(n);  if (c.at != k_none) { copy to buffer + c.at;  post(fill.copied(n)); }
//            else post(c.to_post), and try to open the next buffer;
//   post(n): if (n != 0) { send the buffer, of which n are filled;  fill.posted(); }
//   open:    if (fill.begin_opening()) { a buffer is there ? fill.open() : fill.cancel_opening(); }
// Who may call: any thread. Nothing waits: a thread that stops in the middle of a copy delays the posting of this
// buffer, and claims fail until then.
// Guarantees: claims of an open buffer do not overlap and have no gaps; who posts sees what all have copied, and is the
// only one; whoever claims sees what was done before open(). An empty buffer is never posted.
// Tests: tests/model/shared_fill_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class shared_fill {
public:
  static constexpr std::size_t k_none = ~std::size_t{0};

  // Closed: there is no buffer yet. `capacity`: of each buffer, less than 2^31.
  explicit shared_fill(std::size_t capacity) : capacity_(capacity), claimed_(capacity + 1) {}

  struct claim_result {
    std::size_t at;       // k_none: no room now
    std::size_t to_post;  // not 0: the caller posts so much
  };
  // `amount`: 1 to the capacity.
  claim_result claim(std::size_t amount) {
    if (claimed_.load(std::memory_order_relaxed) > capacity_) return {k_none, 0};
    // Partner of the acquire: open().
    const std::uint64_t at = claimed_.fetch_add(amount, std::memory_order_acquire);
    if (at + amount <= capacity_) return {static_cast<std::size_t>(at), 0};
    return {k_none, at <= capacity_ ? close_at(at) : 0};
  }

  // The amount to post; 0: others still copy, or the buffer is open.
  std::size_t copied(std::size_t amount) {
    // Partners: the others here and in close_at(); the last one sees the copies of all.
    const std::uint64_t before = copied_.fetch_add(amount, std::memory_order_acq_rel);
    const std::uint64_t closed = before >> k_shift;
    return closed != 0 && (before & k_low) + amount == closed - 1 ? static_cast<std::size_t>(closed - 1) : 0;
  }

  // Closes a buffer that has content. The amount to post, as of copied().
  std::size_t close() {
    std::uint64_t at = claimed_.load(std::memory_order_relaxed);
    // Acquire, since close_at() comes after open(). Partner: open().
    while (at != 0 && at <= capacity_)
      if (claimed_.compare_exchange_weak(at, capacity_ + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return close_at(at);
    return 0;
  }

  // The buffer is sent: another can be opened. Partner: begin_opening().
  void posted() { absent_.store(1, std::memory_order_release); }
  // True for one caller, which then calls open() or cancel_opening().
  bool begin_opening() {
    return absent_.load(std::memory_order_relaxed) != 0 && absent_.exchange(0, std::memory_order_acquire) != 0;
  }
  void cancel_opening() { posted(); }
  void open() {
    copied_.store(0, std::memory_order_relaxed);
    claimed_.store(0, std::memory_order_release);
  }

private:
  static constexpr unsigned k_shift = 32;
  static constexpr std::uint64_t k_low = (std::uint64_t{1} << k_shift) - 1;

  // Only one comes here for each buffer: who brings `claimed_` beyond the capacity.
  std::size_t close_at(std::uint64_t at) {
    // Partner: copied().
    const std::uint64_t before = copied_.fetch_add((at + 1) << k_shift, std::memory_order_acquire);
    return (before & k_low) == at ? static_cast<std::size_t>(at) : 0;
  }

  const std::uint64_t capacity_;
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> claimed_;
  // What has been copied; above it, once the buffer is closed, its content and 1.
  alignas(k_cache_line_bytes) typename Atomics::template atomic<std::uint64_t> copied_{0};
  typename Atomics::template atomic<std::uint32_t> absent_{1};  // no buffer, and nobody is about to open one
};

}  // namespace shoal::lockfree
