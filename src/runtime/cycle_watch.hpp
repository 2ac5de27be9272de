// SPDX-License-Identifier: Apache-2.0
// Looks for tasks that wait for each other in a cycle, in the pools of a job in this process, and warns of each cycle once.
// Who may call: one thread at a time that is no worker (hang_watch.hpp). Never switches tasks.
// Tests: tests/cluster/hang_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/executor.hpp"
#include "runtime/job_questions.hpp"
#include "runtime/search_pace.hpp"

namespace shoal::runtime {

class cycle_watch {
public:
  /// Looks if it is time to (search_pace.hpp); `now_ns`: of the executor's clock.
  void look(const watched_job& job, machine::executor& by, std::uint64_t now_ns);

private:
  search_pace searches_;
  std::vector<std::string> reported_;
};

}  // namespace shoal::runtime
