// SPDX-License-Identifier: Apache-2.0
// Other programs that compute, as threads of the process that starts a measurement: the scheduler treats a thread that
// never sleeps as it treats a process.
// Who may call: a command's main thread, outside of tasks, so that the threads inherit no worker's pinning. The
// constructor returns when all loops run; the destructor ends them. Test: tests/unit/bench/busy_loops_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

namespace shoal::bench {

class busy_loops {
public:
  explicit busy_loops(unsigned count);
  busy_loops(const busy_loops&) = delete;
  busy_loops& operator=(const busy_loops&) = delete;
  ~busy_loops();

  /// How often loop `i` has gone round.
  std::uint64_t rounds(unsigned i) const noexcept { return rounds_[i].value.load(std::memory_order_relaxed); }

private:
  struct alignas(64) counter {
    std::atomic<std::uint64_t> value{0};  // partners: its loop; rounds()
  };
  void end() noexcept;

  std::unique_ptr<counter[]> rounds_;
  std::atomic<bool> ended_{false};  // partner: the loops
  std::vector<std::thread> threads_;
};

}  // namespace shoal::bench
