// SPDX-License-Identifier: Apache-2.0
// One task begins very many tasks that do nothing, and waits for them: what a spawn costs when no tree of tasks spreads
// the work, so that every other worker lives by stealing small tasks from one.
// Each task counts itself in a counter of its thread. The check is that the counts add up. Work: tasks. Shown by
// tests/unit/problems/flat_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <variant>

namespace problems::flat {

/// How many tasks have run, counted per thread without atomic read-modify-writes.
class counts {
public:
  /// What each task does. At most k_threads threads may call it.
  static void task_ran() noexcept {
    std::atomic<std::uint64_t>& mine = mine_here().tasks;
    mine.store(mine.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// After all tasks have been waited for.
  static std::uint64_t sum() noexcept {
    std::uint64_t all = 0;
    for (const line& l : lines_) all += l.tasks.load(std::memory_order_relaxed);
    return all;
  }

private:
  static constexpr std::size_t k_threads = 4096;
  struct alignas(64) line {
    std::atomic<std::uint64_t> tasks;
  };
  static line& mine_here() noexcept {
    static thread_local line* const mine = &lines_[threads_.fetch_add(1, std::memory_order_relaxed) % k_threads];
    return *mine;
  }
  inline static std::array<line, k_threads> lines_;
  inline static std::atomic<std::size_t> threads_{0};
};

inline void run_serially(std::uint64_t tasks) noexcept {
  for (std::uint64_t i = 0; i < tasks; ++i) counts::task_ran();
}

struct problem {
  static constexpr const char* k_name = "flat";
  static constexpr const char* k_work_unit = "task";
  static constexpr std::uint64_t k_size = 10'000'000;
  static constexpr std::uint64_t k_test_size = 100'000;
  using result = std::monostate;  // in the counters

  explicit problem(std::uint64_t size) : tasks(size) {
    if (size < 1 || size > 100'000'000) throw std::invalid_argument("the size is how many tasks, 1 to 10^8");
  }

  void prepare() { before_ = counts::sum(); }
  bool valid(result r) const { return work(r) == tasks; }
  std::uint64_t work(result) const { return counts::sum() - before_; }

  std::uint64_t tasks;

private:
  std::uint64_t before_ = 0;
};

}  // namespace problems::flat
