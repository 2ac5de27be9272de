// SPDX-License-Identifier: Apache-2.0
// The service thread of a process: asleep nearly always. Every few milliseconds, while workers are awake, it asks them
// to push out what is old; when one is so busy that it looks at no messages it wakes an idle sibling to do so. And it
// watches the processes of the other nodes: if one ends before its time, the first that sees it tells the others
// through the world; each prints one line and ends its process. A process that computes, or is stopped in a debugger,
// has not ended. Who may call: the thread that made the job. Nothing switches tasks.
// Guarantees: a buffered operation of a worker that calls the runtime now and then leaves within k_tick_ns and that
// call; within k_longest_tick_ns if all workers slept before.
// Shown by tests/cluster/progress_test.cpp, tests/cluster/faults_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "launch/world.hpp"
#include "machine/process.hpp"
#include "runtime/node.hpp"

namespace shoal::runtime {

class service {
public:
  static constexpr std::int64_t k_tick_ns = 2'000'000;
  static constexpr std::int64_t k_longest_tick_ns = 20'000'000;  // while all workers sleep

  /// What a process ends with when another node is lost.
  static constexpr int k_lost_status = 3;

  /// The nodes of this process; `world` if there are others, of which this process is `me`.
  explicit service(std::vector<node*> nodes, launch::world* world = nullptr, std::uint32_t me = 0,
                   std::uint32_t node_count = 1);
  ~service();

private:
  void watch() noexcept;
  bool tick() noexcept;
  void watch_peers();
  void close_peers() noexcept;
  [[noreturn]] void leave(std::uint32_t lost) noexcept;

  std::vector<node*> nodes_;
  std::vector<std::vector<std::uint64_t>> polls_;  // at the last tick, by node and worker
  launch::world* world_;
  std::uint32_t me_;
  std::uint32_t node_count_;
  std::vector<int> peers_;  // by node: a descriptor of its process; -1: ours, or it left as it should
  machine::wake_descriptor stop_;
  std::atomic<bool> stopping_{false};  // partner: the destructor
  std::thread thread_;
};

}  // namespace shoal::runtime
