// SPDX-License-Identifier: Apache-2.0
// Watches the jobs and pools of this process for having come to a stop, and says what their tasks wait for: then, when
// SIGUSR1 comes, and when `shoal ps` or node 0 asks (machine/local_service.hpp). One thread per process does this, while
// there are jobs or pools; it sleeps most of the time, and divides the processors (processor_share.hpp).
// A job of shoal::run in which nothing can run any more, on any node, ends with base::k_job_failed_status and a table: all
// workers sleep, no message is in flight, and no task waits for what a thread from outside may do (sched/stillness.hpp).
// Of several processes node 0's asks the others twice: what has not changed meanwhile was so at one moment. Where a
// promise, a lock or a handle of another thread may go on with it, the table is written once after `hang_ns`, and the
// job goes on; so it does where a node is on another machine, which cannot be asked.
// Who may call: any thread that is no worker. The constructor and destructor of a watch_entry may wait for a table that
// is being made. Never switches tasks.
// Tests: tests/cluster/hang_test.cpp.
#pragma once

#include <cstdint>

#include "runtime/job_questions.hpp"

namespace shoal::runtime {

/// While it lives, the job is watched. Not on an executor other than the machine's: then it does nothing.
class watch_entry {
public:
  explicit watch_entry(watched_job job);
  ~watch_entry();
  watch_entry(const watch_entry&) = delete;
  watch_entry& operator=(const watch_entry&) = delete;

private:
  bool watched_ = false;
  int process_ = 0;
  std::uint64_t number_ = 0;
};

/// Whether node 0 has told this process that the job ends because nothing can run any more.
bool is_ending_for_hang() noexcept;

}  // namespace shoal::runtime
