// SPDX-License-Identifier: Apache-2.0
// The service thread of a process: asleep nearly always. Every few milliseconds, while workers are awake, it asks them
// to push out what is old; when one is so busy that it looks at no messages it wakes an idle sibling to do so. And it
// watches the other nodes (peer_watch): if one is lost each prints one line and ends its process.
// Who may call: the thread that made the job. Nothing switches tasks.
// Guarantees: a buffered operation of a worker that calls the runtime now and then leaves within k_tick_ns and that
// call; within k_longest_tick_ns if all workers slept before.
// Shown by tests/cluster/progress_test.cpp, tests/cluster/faults_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "machine/process.hpp"
#include "runtime/node.hpp"
#include "runtime/peer_watch.hpp"

namespace shoal::runtime {

class service {
public:
  static constexpr std::int64_t k_tick_ns = 2'000'000;
  static constexpr std::int64_t k_longest_tick_ns = 20'000'000;  // while all workers sleep

  /// What a process ends with when another node is lost.
  static constexpr int k_lost_status = 3;

  /// The nodes of this process; `peers` if there are others, of which this process is `me`.
  explicit service(std::vector<node*> nodes, std::shared_ptr<peer_watch> peers = nullptr, std::uint32_t me = 0);
  ~service();

private:
  void watch() noexcept;
  bool tick() noexcept;
  [[noreturn]] void leave(const launch::loss& lost) noexcept;

  std::vector<node*> nodes_;
  std::vector<std::vector<std::uint64_t>> polls_;  // at the last tick, by node and worker
  std::shared_ptr<peer_watch> peers_;
  std::uint32_t me_;
  machine::wake_descriptor stop_;
  std::atomic<bool> stopping_{false};  // partner: the destructor
  std::thread thread_;
};

}  // namespace shoal::runtime
