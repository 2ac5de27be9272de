// SPDX-License-Identifier: Apache-2.0
// The stacks that samples of one worker have found, and how often each, in memory of a fixed size.
// Who may call: add(): the worker's thread only, also in a handler of signals. Others may read while it writes: a stack
// is there when its count is. Never switches tasks. Complexity: O(depth). Stacks lie in the order in which they were found,
// so who reads again begins where it has ended.
// Test: tests/unit/trace/sample_table_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "shoal/random.hpp"

namespace shoal::trace {

struct stack_sample {
  static constexpr std::size_t k_most_frames = 61;
  std::atomic<std::uint64_t> ns{0};     // of the processor's time that was found there. Partner: readers
  std::atomic<std::uint64_t> count{0};  // of samples
  std::uint64_t depth = 0;
  std::uint64_t frames[k_most_frames];  // addresses of code, the innermost first
};

class sample_table {
public:
  sample_table() = default;
  /// `all`: a power of two of them, all 0. The last one collects what there is no room for.
  explicit sample_table(std::span<stack_sample> all) : all_(all), places_(2 * all.size(), 0) {}

  void add(std::span<const std::uint64_t> frames, std::uint64_t ns) noexcept {
    frames = frames.first(std::min(frames.size(), stack_sample::k_most_frames));
    bump(all_[find(frames)], ns);
  }

  std::span<const stack_sample> all() const noexcept { return all_; }

private:
  // Its place is taken if it is new; the last one if there is no room.
  std::size_t find(std::span<const std::uint64_t> frames) noexcept {
    std::uint64_t hash = frames.size();
    for (const std::uint64_t f : frames) hash = mix64(hash ^ f);
    for (;; ++hash) {  // half of the places are free
      std::uint32_t& place = places_[hash & (places_.size() - 1)];
      if (place == 0) {
        if (used_ + 1 == all_.size()) return used_;
        stack_sample& s = all_[used_];
        s.depth = frames.size();
        std::ranges::copy(frames, s.frames);
        place = ++used_;
        return place - 1;
      }
      const stack_sample& s = all_[place - 1];
      if (std::ranges::equal(frames, std::span(s.frames, s.depth))) return place - 1;
    }
  }
  static void bump(stack_sample& s, std::uint64_t ns) noexcept {
    s.ns.store(s.ns.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
    s.count.store(s.count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::span<stack_sample> all_;
  std::vector<std::uint32_t> places_;  // by hash: a number in all_, from 1 on; 0: free
  std::uint32_t used_ = 0;
};

}  // namespace shoal::trace
