// SPDX-License-Identifier: Apache-2.0
// The future's state that the stack it lies on is to fill: who waits for whom, and what a stack runs, is read from
// these. Who may call: the stack itself; the fault handler of its thread. Switches nothing.
// Guarantees: innermost first, from the stack's notes; a state that is named here has not been filled.
// Shown by tests/unit/sched/future_cycle_test.cpp, stack_overflow_test.cpp.
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
