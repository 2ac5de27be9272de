// SPDX-License-Identifier: Apache-2.0
// The service activity of a process. Every few milliseconds, while workers are awake, it makes them send old buffers.
// If a busy worker does not poll, it wakes an idle sibling to poll for it. It watches the other nodes (peer_watch): if
// one is lost, each process prints one line and ends.
// Who may call: the thread that made the job. Nothing switches tasks.
// Guarantees: a buffered operation of a worker that calls the runtime now and then is sent within k_tick_ns and that
// call; within k_longest_tick_ns if all workers were parked before.
// Tests: tests/cluster/progress_test.cpp, tests/cluster/faults_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "machine/executor.hpp"
#include "runtime/hang_watch.hpp"
#include "runtime/node.hpp"
#include "runtime/peer_watch.hpp"

namespace shoal::runtime {

class service final : machine::activity {
public:
  static constexpr std::int64_t k_tick_ns = 2'000'000;
  static constexpr std::int64_t k_longest_tick_ns = 20'000'000;  // while all workers sleep

  /// The nodes of this process (none: only the peers are watched, while the job starts); `peers` if there are others, of which this process is `me`.
  service(machine::executor& by, std::vector<node*> nodes, std::shared_ptr<peer_watch> peers = nullptr,
          std::uint32_t me = 0);
  service(const service&) = delete;
  service& operator=(const service&) = delete;
  ~service();

private:
  std::int64_t tick() noexcept override;
  std::span<const int> descriptors() noexcept override;
  bool look_at_workers() noexcept;
  [[noreturn]] void leave(const launch::loss& lost) noexcept;

  machine::executor& executor_;
  std::vector<node*> nodes_;
  std::vector<std::vector<std::uint64_t>> polls_;  // at the last look, by node and worker
  std::shared_ptr<peer_watch> peers_;
  std::uint32_t me_;
  std::int64_t pause_ns_ = k_tick_ns;
  std::uint64_t next_look_ns_ = 0;  // at the workers; descriptors bring ticks in between
  std::unique_ptr<machine::activity_runner> runner_;
  std::optional<watch_entry> watched_;
};

}  // namespace shoal::runtime
