// SPDX-License-Identifier: Apache-2.0
// Whether the workers of a pool have come to a stop: all sleep, and nothing that they, or a message on its way, could do
// is left. A sleeping worker has looked for work after it had announced its sleep; it sleeps until somebody rings it.
// So if all sleep at one moment, only a thread from outside can begin anything. The moment is found by reading the
// count of each worker's sleeps twice: what has not changed was so in between.
// Who may call: any thread, while the pool exists. Never blocks, never switches tasks. O(workers).
// Tests: tests/unit/sched/wait_survey_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::sched {

class pool;

struct stillness {
  bool still = false;
  std::uint64_t version = 0;  // changes whenever a worker wakes up
  unsigned outside = 0;       // waits that a thread from outside may end
  bool starved = false;       // a worker has no stack left, so tasks may be there that cannot begin
  bool holds_back = false;    // iterations are held back (the setting waiting_memory)
};

stillness look_at(pool& p) noexcept;

}  // namespace shoal::sched
