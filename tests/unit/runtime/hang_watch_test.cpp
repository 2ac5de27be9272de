// SPDX-License-Identifier: Apache-2.0
#include "runtime/hang_watch.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <thread>

#include "machine/process.hpp"
#include "sched/pool.hpp"

namespace shoal::runtime {
namespace {

void watch_once() {
  sched::pool pool{sched::pool_options()};
  watched_job job;
  job.pools = {&pool};
  job.runs = [] { return false; };
  const watch_entry entry(std::move(job));
}

// The copy that a child has of its parent's watch may be in the middle of anything.
TEST(hang_watch, is_made_anew_in_a_child_made_by_fork_at_any_moment) {
#if SHOAL_ASAN || SHOAL_TSAN
  GTEST_SKIP() << "a lock of the sanitizer's own may be held in the copy of a process with threads";
#endif
  watch_once();  // what the library computes at its first use is known
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over.load()) watch_once();
  });
  for (int round = 0; round < 50; ++round) {
    const int child = ::fork();
    if (child == 0) {
      watch_once();
      ::_exit(0);
    }
    const int handle = machine::open_process(child);
    const bool ended = machine::wait_any(std::array{handle}, 10'000'000'000) == 0;
    machine::close_descriptor(handle);
    if (!ended) ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "round " << round << ", status " << status;
    if (!ended) break;
  }
  over = true;
  other.join();
}

}  // namespace
}  // namespace shoal::runtime
