// SPDX-License-Identifier: Apache-2.0
// The service thread of a process: asleep nearly always. Every few milliseconds, while workers are awake, it asks them to
// push out what is old; when one is so busy that it looks at no messages it wakes an idle sibling to do so.
// Who may call: the thread that made the job. Nothing switches tasks.
// Guarantees: a buffered operation of a worker that calls the runtime now and then leaves within k_tick_ns and that call.
// Shown by tests/cluster/progress_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "runtime/node.hpp"

namespace shoal::runtime {

class service {
public:
  static constexpr std::int64_t k_tick_ns = 2'000'000;
  static constexpr std::int64_t k_longest_tick_ns = 20'000'000;  // while all workers sleep

  explicit service(std::vector<node*> nodes);
  ~service();

private:
  void watch() noexcept;
  bool tick() noexcept;

  std::vector<node*> nodes_;
  std::vector<std::vector<std::uint64_t>> polls_;  // at the last tick, by node and worker
  std::atomic<std::uint32_t> stopping_{0};         // a futex; partner: the destructor
  std::thread thread_;
};

}  // namespace shoal::runtime
