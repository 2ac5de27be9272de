// SPDX-License-Identifier: Apache-2.0
// The tasks that threads of the program give to a pool of workers, counted until they end.
// Who may call: begin() any thread, tasks included; close() any thread that is no worker: it blocks its thread.
// Guarantees: after close() has returned, every task begun has ended, and no other begins.
// Shown by tests/unit/runtime/pool_test.cpp, job_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "sched/pool.hpp"
#include "shoal/detail/submission.hpp"

namespace shoal::runtime {

class submissions {
public:
  /// `refusal`: what begin() throws after close(); lives as long as this.
  submissions(sched::pool& to, const char* refusal) noexcept : workers_(to), refusal_(refusal) {}
  submissions(const submissions&) = delete;
  submissions& operator=(const submissions&) = delete;

  /// Begins `s` as a task of its own. Throws errc::stopped after close().
  void begin(std::unique_ptr<detail::submission> s);
  /// Refuses new tasks, and waits until those begun have ended. May be called again.
  void close();
  /// Whether tasks have begun, or are to begin, that have not ended. Any thread.
  bool any();

private:
  struct entry;
  static void execute(detail::task& t) noexcept;
  void end_one() noexcept;

  sched::pool& workers_;
  const char* const refusal_;
  std::mutex mutex_;                         // held for a few instructions, never while a task waits
  std::atomic<std::uint32_t> all_ended_{0};  // 1: closed and none unfinished. Partners: end_one() and close()
  std::uint64_t unfinished_ = 0;
  bool closed_ = false;
};

}  // namespace shoal::runtime
