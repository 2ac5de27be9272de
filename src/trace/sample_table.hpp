// SPDX-License-Identifier: Apache-2.0
// The stacks that samples of one worker have found, and how often each, in memory of a fixed size.
// Who may call: add(): the worker's thread only, also in a handler of signals. Others may read while it writes: a stack
// counts from when its time is there. Never switches tasks. Complexity: O(depth) for stacks that are known.
// Test: tests/unit/trace/sample_table_test.cpp.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>

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
  explicit sample_table(std::span<stack_sample> all) noexcept : all_(all) {}

  void add(std::span<const std::uint64_t> frames, std::uint64_t ns) noexcept {
    frames = frames.first(std::min(frames.size(), stack_sample::k_most_frames));
    std::uint64_t hash = frames.size();
    for (const std::uint64_t f : frames) hash = mix64(hash ^ f);
    for (std::size_t tries = 0; tries < k_tries; ++tries) {
      stack_sample& s = all_[(hash + tries) & (all_.size() - 1)];
      if (&s == &all_.back()) continue;
      if (s.count.load(std::memory_order_relaxed) == 0) {
        s.depth = frames.size();
        std::ranges::copy(frames, s.frames);
      } else if (!std::ranges::equal(frames, std::span(s.frames, s.depth))) {
        continue;
      }
      return bump(s, ns);
    }
    bump(all_.back(), ns);
  }

  std::span<const stack_sample> all() const noexcept { return all_; }

private:
  static constexpr std::size_t k_tries = 16;
  static void bump(stack_sample& s, std::uint64_t ns) noexcept {
    s.ns.store(s.ns.load(std::memory_order_relaxed) + ns, std::memory_order_relaxed);
    s.count.store(s.count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  std::span<stack_sample> all_;
};

}  // namespace shoal::trace
