// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_overflow.hpp"

#include <atomic>
#include <cstdlib>
#include <vector>

#include "machine/images.hpp"
#include "machine/signals.hpp"
#include "sched/pool.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

constexpr std::uintptr_t k_null_page_bytes = 4096;

// What a handler may not ask the system for. Partner: explain_stack_overflows(), which fills it once for ever.
std::atomic<const std::vector<machine::image>*> g_images{nullptr};

void name_code(machine::signal_line& line, const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (const auto* const images = g_images.load(std::memory_order_acquire); images != nullptr)
    for (const machine::image& one : *images)
      if (one.contains(address)) {
        line.text(one.path).text("+").hexadecimal(value - one.base);
        return;
      }
  line.text("the code at ").hexadecimal(value);
}

void name_task(machine::signal_line& line, worker& w) {
  line.text("the task ");
  name_code(line, reinterpret_cast<const void*>(w.begun().function));
  line.text(" (see addr2line -Cfie)");
}

void name_place(machine::signal_line& line, worker& w, std::size_t stack) {
  line.text(" (worker ").decimal(w.index).text(", stack ").decimal(static_cast<std::int64_t>(stack)).text("); ");
  line.text(fiber::k_stack_advice);
}

void explain(void* address, void* context) {
  worker* w = this_worker();
  if (w == nullptr) {
    if (reinterpret_cast<std::uintptr_t>(address) < k_null_page_bytes)
      machine::write_line(
          "shoal: a thread that runs no task has used a null pointer; calls of Shoal's are for tasks, not for threads "
          "of the program's own");
    return;
  }
  machine::signal_line line;
  line.text("shoal: ");
  const fiber::stack_region& stacks = w->owner().stacks();
  std::size_t stack = 0;
  if (!stacks.find(address, &stack)) {
    // The first task of a worker, the main task among them, runs on its thread's own stack.
    if (!machine::is_at_stack_end(address, context)) return;
    name_task(line, *w);
    line.text(" has overflowed its stack, which is its thread's own (worker ").decimal(w->index);
    line.text("); raise ulimit -s, or keep large objects elsewhere").write();
    return;
  }
  const bool in_guard = static_cast<const std::byte*>(address) < stacks.bottom(stack);
  name_task(line, *w);
  line.text(in_guard ? " has overflowed its stack of " : " has accessed a stack that is not in use; stacks have ");
  line.decimal(static_cast<std::int64_t>(stacks.stack_bytes())).text(" bytes");
  name_place(line, *w, stack);
  line.write();
}

}  // namespace

void explain_stack_overflows() {
  static const std::vector<machine::image> images = machine::loaded_images();
  g_images.store(&images, std::memory_order_release);
  machine::set_fault_hook(explain);
}

void end_for_used_up_stack(worker& w) noexcept {
  machine::signal_line line;
  line.text("shoal: ");
  name_task(line, w);
  line.text(" has used up its stack of ");
  line.decimal(static_cast<std::int64_t>(w.owner().stacks().stack_bytes())).text(" bytes");
  name_place(line, w, w.current()->stack);
  line.write();
  std::abort();
}

}  // namespace shoal::sched
