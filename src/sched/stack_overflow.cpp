// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_overflow.hpp"

#include "machine/signals.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

constexpr std::uintptr_t k_null_page_bytes = 4096;

void explain(void* address, void* context) {
  worker* w = this_worker();
  if (w == nullptr) {
    if (reinterpret_cast<std::uintptr_t>(address) < k_null_page_bytes)
      machine::write_line(
          "shoal: a thread that runs no task has used a null pointer; calls of Shoal's are for tasks, not for threads "
          "of "
          "the program's own");
    return;
  }
  fiber::stack_region& stacks = w->owner().stacks();
  const std::byte* bottom = nullptr;
  if (!stacks.find(address, &bottom)) {
    // The first task of a worker, the main task among them, runs on its thread's own stack.
    if (machine::is_at_stack_end(address, context))
      machine::write_line(
          "shoal: a task has overflowed its stack, which is its thread's own; raise ulimit -s, or keep "
          "large objects elsewhere");
    return;
  }
  const bool in_guard = static_cast<const std::byte*>(address) < bottom;
  machine::signal_line line;
  line.text("shoal: ");
  if (in_guard)
    line.text("a task has overflowed its stack of ");
  else
    line.text("a task has accessed a stack that is not in use; stacks have ");
  line.decimal(static_cast<std::int64_t>(stacks.stack_bytes()))
      .text(" bytes (worker ")
      .decimal(w->index)
      .text("); raise the setting stack (SHOAL_STACK=1M, for instance), or keep large objects elsewhere");
  line.write();
}

}  // namespace

void explain_stack_overflows() { machine::set_fault_hook(explain); }

}  // namespace shoal::sched
