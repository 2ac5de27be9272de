// SPDX-License-Identifier: Apache-2.0
// The order of a scan's blocks: workers take blocks from the front. A block whose predecessors are known is scanned at
// once; another one is reduced, and scanned, while it is still in a cache, by whoever makes its predecessors known.
// `Scan` has a type `value` and, for elements [begin, end): reduce(begin, end); scan(begin, end, before);
// scan_alone(begin, end, before), which gives join(before, reduce(begin, end)) as well; join(a, b). Who may call:
// tasks; run() switches, and nothing waits for a block. Errors: the first exception; then blocks are left out.
// Tests: tests/unit/algorithms/parallel_scan_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal::detail {

template <class Scan>
class scan_blocks {
  using T = typename Scan::value;

public:
  /// Blocks are of `longest` elements, fewer if there are less than `least_blocks` otherwise; never less than `least`.
  scan_blocks(const Scan& scan, std::uint64_t count, std::uint64_t least, std::uint64_t longest) noexcept
      : scan_(scan), count_(count), length_(std::clamp(count / k_wanted_blocks, least, longest)) {}

  /// Scans all. Returns what the last block gave: for scans whose scan() gives what comes after it, the total.
  T run(std::optional<T> before) {
    const std::size_t blocks = static_cast<std::size_t>((count_ - 1) / length_ + 1);
    if (blocks == 1) return scan_.scan(0, count_, before);
    std::vector<block> all(blocks);
    blocks_ = std::move(all);
    blocks_[0].before = std::move(before);
    blocks_[0].known.store(k_before, std::memory_order_relaxed);
    {
      task_group group;
      group_ = &group;
      const std::size_t runners = std::min<std::size_t>(blocks, worker_here().siblings);
      for (std::size_t i = 0; i < runners; ++i) group.run([this] { attempt([this] { take_blocks(); }); });
      group.wait();
    }
    return std::move(*total_);
  }

private:
  static constexpr std::uint64_t k_wanted_blocks = 64;
  static constexpr unsigned k_before = 1;
  static constexpr unsigned k_own = 2;
  static constexpr std::size_t k_none = ~std::size_t{0};

  struct alignas(64) block {
    std::optional<T> before;         // the combination of all blocks before it, and of the initial value
    std::optional<T> own;            // of its elements, if they were reduced
    std::atomic<unsigned> known{0};  // of the two; partners: the workers that make each known
  };

  template <class F>
  void attempt(const F& f) {
    try {
      f();
    } catch (...) {
      failed_.store(true, std::memory_order_relaxed);
      throw;
    }
  }
  std::uint64_t begin_of(std::size_t k) const noexcept { return k * length_; }
  std::uint64_t end_of(std::size_t k) const noexcept { return std::min(count_, (k + 1) * length_); }

  void take_blocks() {
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::size_t k = next_.fetch_add(1, std::memory_order_relaxed);
      if (k >= blocks_.size()) return;
      finish(take(k));
    }
  }
  /// Returns a block that this worker is to scan now, if there is one.
  std::size_t take(std::size_t k) {
    block& b = blocks_[k];
    if ((b.known.load(std::memory_order_acquire) & k_before) != 0) {
      const bool last = k + 1 == blocks_.size();
      T after =
          last ? scan_.scan(begin_of(k), end_of(k), b.before) : scan_.scan_alone(begin_of(k), end_of(k), b.before);
      return announce(k + 1, std::move(after));
    }
    b.own.emplace(scan_.reduce(begin_of(k), end_of(k)));
    if ((b.known.fetch_or(k_own, std::memory_order_acq_rel) & k_before) == 0) return k_none;  // partner: announce()
    spawn(announce(k + 1, scan_.join(*b.before, *b.own)));
    return k;
  }
  void finish(std::size_t k) {
    if (k == k_none || failed_.load(std::memory_order_relaxed)) return;
    T last = scan_.scan(begin_of(k), end_of(k), blocks_[k].before);
    if (k + 1 == blocks_.size()) total_.emplace(std::move(last));
  }
  /// Makes known what comes before block k, and, as far as blocks are reduced, before those behind it. Returns the
  /// first of those that can be scanned; the others become tasks.
  std::size_t announce(std::size_t k, T before) {
    std::size_t first = k_none;
    for (;; ++k) {
      if (k == blocks_.size()) {
        if (first == k_none) total_.emplace(std::move(before));  // else the scan of the last block gives it
        return first;
      }
      block& b = blocks_[k];
      b.before.emplace(std::move(before));
      if ((b.known.fetch_or(k_before, std::memory_order_acq_rel) & k_own) == 0) return first;  // partner: take()
      before = scan_.join(*b.before, *b.own);
      if (first == k_none)
        first = k;
      else
        spawn(k);
    }
  }
  void spawn(std::size_t k) {
    if (k != k_none) group_->run([this, k] { attempt([this, k] { finish(k); }); });
  }

  const Scan& scan_;
  std::uint64_t count_;
  std::uint64_t length_;
  std::vector<block> blocks_;
  task_group* group_ = nullptr;
  std::atomic<std::size_t> next_{0};  // the next block that nobody has taken; partners: other workers
  std::atomic<bool> failed_{false};   // a hint; partners: attempt() of other workers
  std::optional<T> total_;
};

}  // namespace shoal::detail
