// SPDX-License-Identifier: Apache-2.0
// The tasks of a pool that wait: what for, since when, and who holds it. Each worker lists its own, since only its
// thread may look at its stacks: what a task waits for exists while its worker does not let the task go on. A movable
// task that may go on anywhere is listed where it began, while lockfree::parting keeps it from going on.
// Who may call: take() any thread that is no worker of the pool; it blocks the thread, at most for `patience_ns`.
// Guarantees: tasks that do not wait pay nothing; one that waits stores what it waits for on its own stack. A worker
// that runs one task for longer than the patience is listed as busy. At most `most` tasks per worker are described.
// Tests: tests/unit/sched/wait_survey_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "shoal/detail/worker.hpp"

namespace shoal::sched {

class pool;

struct waiting_task {
  unsigned worker = 0;
  const void* stack = nullptr;  // names the task among those of one survey
  std::uint64_t number = 0;     // of the task among those of its stack
  const void* code = nullptr;   // of the body; nullptr: the main task
  std::string name;             // that the program has given; may be empty
  detail::wait_kind why = detail::wait_kind::none;
  const void* object = nullptr;
  std::int64_t missing = -1;         // operations, children, pieces that have not ended; -1: not known
  std::string awaited;               // the name of the future or promise, if it has one
  detail::wait_description of_rank;  // if it is one of MPI
  const void* held_by = nullptr;     // the stack of the task that holds it or will give it; nullptr: not known
  std::uint64_t holder_number = 0;   // of a mutex: of that task
  bool holder_ended = false;         // so a report has found
  std::vector<const void*> fills;    // the states of the futures that its stack is to fill
  std::uint64_t waited_ns = 0;
};

struct wait_survey {
  std::vector<waiting_task> tasks;
  std::uint64_t waiting = 0;     // how many there are, described or not
  std::vector<unsigned> silent;  // workers that have not answered
  std::uint64_t took_ns = 0;     // of the workers' time, all together
};

/// Empty if the pool ends.
wait_survey take_wait_survey(pool& p, std::size_t most_per_worker, std::int64_t patience_ns);

}  // namespace shoal::sched
