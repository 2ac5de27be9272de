// SPDX-License-Identifier: Apache-2.0
// The future state that the current stack will fill, as a list in the stack's frames. Error messages and the search for
// cycles read it. Who may call: the stack itself; the fault handler of its thread. Does not switch tasks.
// Guarantees: innermost first, from the stack's notes; the listed states have not been filled.
// Tests: tests/unit/sched/future_cycle_test.cpp, stack_overflow_test.cpp.
#pragma once

#include "fiber/fiber.hpp"

namespace shoal::detail {
struct future_state;
}  // namespace shoal::detail

namespace shoal::sched {

struct filling final : fiber::filling {
  detail::future_state* state = nullptr;
};

}  // namespace shoal::sched
