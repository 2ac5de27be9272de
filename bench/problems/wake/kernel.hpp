// SPDX-License-Identifier: Apache-2.0
// Empty tasks spawned while all other workers sleep. Timed: the spawns alone. Before each run the workers get time to
// fall asleep, and the program hands in how to wait for the tasks (`settle`), which happens after the time.
// Work: tasks that have run, counted by the tasks.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <thread>
#include <variant>

namespace problems::wake {

struct problem {
  static constexpr const char* k_name = "wake";
  static constexpr const char* k_work_unit = "spawn";
  static constexpr std::uint64_t k_size = 1000;
  static constexpr std::uint64_t k_test_size = 1000;
  using result = std::monostate;

  explicit problem(std::uint64_t size) : tasks(size) {
    if (size < 1 || size > 10'000'000) throw std::invalid_argument("the size is how many tasks, 1 to 10000000");
  }

  void prepare() {
    ran.store(0, std::memory_order_relaxed);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  // Called after the time, before valid().
  std::uint64_t work(result) const {
    settle();
    return ran.load(std::memory_order_relaxed);
  }
  bool valid(result) const { return ran.load(std::memory_order_relaxed) == tasks; }

  void run_one() { ran.fetch_add(1, std::memory_order_relaxed); }

  std::uint64_t tasks;
  std::atomic<std::uint64_t> ran{0};  // partners: the tasks
  std::function<void()> settle;
};

}  // namespace problems::wake
