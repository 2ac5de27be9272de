// SPDX-License-Identifier: Apache-2.0
// Very many tasks sleep at the same time, until moments that are spread over k_spread_ms: what timers and wake-ups cost.
// A task adds up how much too late it goes on. The check: all have slept, and none goes on too early.
// Work: sleeps. Test: tests/unit/problems/sleep_test.cpp.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <variant>

namespace problems::sleep {

using clock = std::chrono::steady_clock;

struct problem {
  static constexpr const char* k_name = "sleep";
  static constexpr const char* k_work_unit = "sleep";
  static constexpr std::uint64_t k_size = 200'000;
  static constexpr std::uint64_t k_test_size = 2'000;
  static constexpr std::uint64_t k_spread_ms = 50;
  using result = std::monostate;  // in the counters

  explicit problem(std::uint64_t size) : tasks(size) {
    if (size < 1 || size > 10'000'000) throw std::invalid_argument("the size is how many tasks sleep, 1 to 10^7");
  }

  void prepare() {
    slept_.store(0, std::memory_order_relaxed);
    too_early_.store(0, std::memory_order_relaxed);
  }
  /// Until when task `i` sleeps, if the first one was begun at `start`.
  static clock::time_point until(clock::time_point start, std::uint64_t i) noexcept {
    const std::uint64_t mixed = ((i + 1) * 0x9e3779b97f4a7c15) >> 40;
    return start + std::chrono::microseconds(mixed % (1000 * k_spread_ms));
  }
  /// What a task does when it has slept.
  void woke(clock::time_point moment) const noexcept {
    if (clock::now() < moment) too_early_.fetch_add(1, std::memory_order_relaxed);
    slept_.fetch_add(1, std::memory_order_relaxed);
  }

  bool valid(result r) const noexcept { return work(r) == tasks && too_early_.load(std::memory_order_relaxed) == 0; }
  std::uint64_t work(result) const noexcept { return slept_.load(std::memory_order_relaxed); }

  std::uint64_t tasks;

private:
  // Partners of both: the tasks.
  mutable std::atomic<std::uint64_t> slept_{0};
  mutable std::atomic<std::uint64_t> too_early_{0};
};

}  // namespace problems::sleep
