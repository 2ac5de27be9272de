// SPDX-License-Identifier: Apache-2.0
// How a receiver with many senders looks only at those that send. A sender that is not watched announces itself: it
// sets its bit on the receiver's board. The receiver takes the bits from the board, watches these senders from then on, and
// stops when one has sent nothing for long.
//   sender:    publish;  if (mark.must_announce()) board.announce(i);  then wake the receiver, if it sleeps;
//   receiver:  if (board.any()) board.take([&](i) { mark(i).begin();  put i on its list });  look at those of the list;
//              nothing came for long:  if (mark(i).end(there)) take i off the list;
// Who may call: announce: any thread; must_announce: a sender, one thread at a time; the others: the receiver, one
// thread at a time. Nothing waits or switches.
// Guarantees: what a sender has published is on the list or on the board before it wakes the receiver. A sender may be
// announced that is on the list already. Memory of zeros is a board without bits, and a mark of a sender that is not
// watched; both may be shared by processes. (Store, fence, load on both sides: Dekker.)
// Tests: tests/model/announcements_test.cpp, tests/stress/lockfree_test.cpp.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include <shoal/detail/atomics.hpp>

namespace shoal::lockfree {

template <class Atomics = std_atomics>
class watch_mark {
public:
  // Behind the publication. The fence is for the doorbell, too. Partner: the fence in end().
  bool must_announce() const {
    Atomics::fence(std::memory_order_seq_cst);
    return watched_.load(std::memory_order_relaxed) == 0;
  }
  void begin() { watched_.store(1, std::memory_order_relaxed); }
  // `there`: whether something is published. False: there is, and the receiver watches on. Partner: must_announce().
  template <class There>
  bool end(const There& there) {
    watched_.store(0, std::memory_order_relaxed);
    Atomics::fence(std::memory_order_seq_cst);
    if (!there()) return true;
    begin();
    return false;
  }

private:
  typename Atomics::template atomic<std::uint32_t> watched_{0};
};

// A view of words in memory: first a summary, a bit of which stands for some of the words that follow.
template <class Atomics = std_atomics>
class announcement_board {
public:
  using word = typename Atomics::template atomic<std::uint64_t>;

  static constexpr std::size_t words(std::size_t senders) noexcept { return 1 + (senders + 63) / 64; }

  announcement_board() = default;
  announcement_board(word* at, std::size_t senders) noexcept
      : summary_(at), bits_(at + 1), count_(words(senders) - 1), per_bit_((count_ + 63) / 64) {}

  // Partners of the releases: take(), any().
  void announce(std::size_t sender) const {
    bits_[sender / 64].fetch_or(std::uint64_t{1} << sender % 64, std::memory_order_release);
    summary_->fetch_or(std::uint64_t{1} << sender / 64 / per_bit_, std::memory_order_release);
  }

  // Any thread: who finds none after a fence sees what a concurrent take() has done before it took the bits.
  bool any() const { return summary_->load(std::memory_order_acquire) != 0; }

  // Takes the bits off, and calls take(sender) for each.
  template <class Take>
  void take(const Take& each) const {
    // Release: for any().
    for (std::uint64_t s = summary_->exchange(0, std::memory_order_acq_rel); s != 0; s &= s - 1) {
      const std::size_t first = static_cast<std::size_t>(std::countr_zero(s)) * per_bit_;
      for (std::size_t i = first; i < first + per_bit_ && i < count_; ++i) {
        if (bits_[i].load(std::memory_order_relaxed) == 0) continue;
        for (std::uint64_t b = bits_[i].exchange(0, std::memory_order_acquire); b != 0; b &= b - 1)
          each(i * 64 + static_cast<std::size_t>(std::countr_zero(b)));
      }
    }
  }

private:
  word* summary_ = nullptr;
  word* bits_ = nullptr;
  std::size_t count_ = 0;
  std::size_t per_bit_ = 1;
};

}  // namespace shoal::lockfree
