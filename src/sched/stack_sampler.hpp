// SPDX-License-Identifier: Apache-2.0
// Samples of a worker's stacks: a timer looks at the code that the worker runs, once in so much of its processor time, and
// counts the functions that have called each other.
// Who may call: the worker's thread makes and destroys it. The samples are taken in a handler of signals.
// Limits: a stack that is being switched is seen without its callers. Test: tests/unit/sched/stack_sampler_test.cpp.
#pragma once

#include <cstdint>

#include "machine/thread_timer.hpp"
#include "trace/trace_file.hpp"

namespace shoal::sched {

class stack_sampler {
public:
  /// Of that worker, until the trace is finished. `into` outlives it.
  stack_sampler(trace::trace_writer& into, unsigned worker);

private:
  static constexpr std::uint64_t k_period_ns = 1'000'000;
  static std::uint64_t look(void* self) noexcept;

  const trace::trace_writer& trace_;
  trace::sample_table& into_;
  std::uint64_t last_ns_;        // of the thread's processor time
  machine::thread_timer timer_;  // last: it calls as soon as it is there
};

}  // namespace shoal::sched
