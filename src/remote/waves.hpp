// SPDX-License-Identifier: Apache-2.0
// The parts of quiesce() that hold its argument (cluster/quiesce.cpp): what a worker reports in a wave, and when waves end.
// Who may call: note() the worker; begun() any thread; until_two_agree() a task. Only `wave` may switch tasks.
// Guarantees: begun() is the count of the worker's first fence since the wave began at its node.
// Test: tests/unit/remote/waves_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>

namespace shoal::remote {

/// How many operations the handlers of a worker have begun, as a wave counts them.
class wave_note {
public:
  /// At each fence; `wave` is the node's number of waves so far. Later fences in a wave, of loops that end, change
  /// nothing: they would count operations for which the wave's own fence does not wait.
  void note(std::uint32_t wave, std::uint64_t begun) noexcept {
    if (wave == wave_) return;
    wave_ = wave;
    begun_.store(begun, std::memory_order_release);
  }
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_acquire); }

private:
  std::uint32_t wave_ = 0;               // the worker's
  std::atomic<std::uint64_t> begun_{0};  // partners: note(), and who reports for all workers of the node
};

/// Makes waves until two in sequence have counted the same.
template <class Wave>
void until_two_agree(const Wave& wave) {
  for (std::uint64_t before = wave();;) {
    const std::uint64_t now = wave();
    if (now == before) return;
    before = now;
  }
}

}  // namespace shoal::remote
