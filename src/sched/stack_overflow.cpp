// SPDX-License-Identifier: Apache-2.0
#include "sched/stack_overflow.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "machine/images.hpp"
#include "machine/signals.hpp"
#include "sched/pool.hpp"
#include "sched/task_identity.hpp"
#include "sched/worker.hpp"

namespace shoal::sched {
namespace {

// Threads that are no workers, and workers of pools, have no port (shoal/detail/port.hpp), of which one of the first words
// is what is asked for.
constexpr std::uintptr_t k_null_object_bytes = 64;

// Facts that a signal handler cannot ask the system for. Partner: explain_stack_overflows(), which fills it once.
std::atomic<const std::vector<machine::image>*> g_images{nullptr};

// Partner: set_fault_words().
std::atomic<const fault_words*> g_words{nullptr};

// Those for the worker's running task, which they have named; nullptr: there are none.
const fault_words* name_in_other_words(machine::signal_line& line, worker& w) {
  const fault_words* const words = g_words.load(std::memory_order_acquire);
  return words != nullptr && words->name(line, w.begun()) ? words : nullptr;
}

void name_code(machine::signal_line& line, const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  if (const auto* const images = g_images.load(std::memory_order_acquire); images != nullptr)
    for (const machine::image& one : *images)
      if (one.contains(address)) {
        constexpr std::size_t k_most_path_bytes = 256;  // the advice at the end of the line is to fit, too
        const std::string_view path = one.path;
        if (path.size() > k_most_path_bytes) line.text("[...]");
        line.text(path.substr(path.size() - std::min(path.size(), k_most_path_bytes)));
        line.text("+").hexadecimal(value - one.base);
        return;
      }
  line.text("the code at ").hexadecimal(value);
}

void name_task(machine::signal_line& line, worker& w) {
  if (name_in_other_words(line, w) != nullptr) return;
  const task_identity task = identify(*w.current());
  if (task.code == nullptr) {
    line.text("the main task");
    return;
  }
  line.text("the task ");
  if (task.name != nullptr) line.text("'").text(task.name).text("' ");
  line.text(task.name != nullptr ? "(" : "");
  name_code(line, task.code);
  line.text(task.name != nullptr ? "; see addr2line -Cfie)" : " (see addr2line -Cfie)");
}

void name_place(machine::signal_line& line, worker& w, std::size_t stack, bool sized) {
  line.text(" (worker ").decimal(w.index).text(", stack ").decimal(static_cast<std::int64_t>(stack)).text("); ");
  line.text(sized ? fiber::k_sized_stack_advice : fiber::k_stack_advice);
}

void explain_elsewhere(const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) >= k_null_object_bytes) return;
  machine::signal_line line;
  line.text("shoal: a thread that runs no task has used the address ")
      .hexadecimal(reinterpret_cast<std::uintptr_t>(address));
  line.text(
      ": a null pointer of the program's own, or perhaps a global array or another call of Shoal's that is for tasks");
  line.write();
}

// The accesses of tasks that checks would have caught, in a build without them.
void explain_wild_access(worker& w, const void* address, const void* context) {
  machine::signal_line named;
  named.text("shoal: ");
  if (const fault_words* const words = name_in_other_words(named, w); words != nullptr) {
    named.text(" has used the address ").hexadecimal(reinterpret_cast<std::uintptr_t>(address)).text(", ");
    words->place(named, machine::failed_instruction(context));
    named.write();
    return;
  }
#ifndef SHOAL_CHECKED
  machine::signal_line line;
  line.text("shoal: ");
  name_task(line, w);
  line.text(" has used the address ").hexadecimal(reinterpret_cast<std::uintptr_t>(address)).text(", in ");
  name_code(line, machine::failed_instruction(context));
  if (w.port == nullptr && reinterpret_cast<std::uintptr_t>(address) < k_null_object_bytes)
    line.text(
        "; a null pointer of the program's own, or a global array or another call that only tasks started by "
        "shoal::run "
        "may make; pools have no global memory");
  else
    line.text(
        "; a checked build (cmake --preset dev) finds bad indices, and bodies for other nodes that capture a pointer "
        "or by reference");
  line.write();
#endif
}

void end_with_advice(machine::signal_line& line, const fault_words& words, const void* context) {
  words.place(line, machine::failed_instruction(context));
  line.text("; ").text(words.stack_advice).write();
}

void explain(void* address, void* context) {
  worker* const w = this_worker();
  if (w == nullptr) return explain_elsewhere(address);
  machine::signal_line line;
  line.text("shoal: ");
  std::size_t stack = 0;
  const fiber::stack_region* const stacks = w->owner().find_stack(address, &stack);
  if (stacks == nullptr) {
    // The first task of a worker, the main task among them, runs on its thread's own stack.
    if (!machine::is_at_stack_end(address, context)) return explain_wild_access(*w, address, context);
    if (const fault_words* const words = name_in_other_words(line, *w); words != nullptr) {
      line.text(" has overflowed its stack, ");
      return end_with_advice(line, *words, context);
    }
    name_task(line, *w);
    line.text(" has overflowed its stack, which is its thread's own (worker ").decimal(w->index);
    line.text("), in ");
    name_code(line, machine::failed_instruction(context));
    line.text("; raise ulimit -s, or keep large objects elsewhere").write();
    return;
  }
  const bool in_guard = static_cast<const std::byte*>(address) < stacks->bottom(stack);
  const fault_words* const words = name_in_other_words(line, *w);
  if (words == nullptr) name_task(line, *w);
  line.text(in_guard ? " has overflowed its stack of " : " has accessed a stack that is not in use; stacks have ");
  line.decimal(static_cast<std::int64_t>(stacks->stack_bytes())).text(" bytes, ");
  if (words != nullptr) return end_with_advice(line, *words, context);
  line.text("in ");
  name_code(line, machine::failed_instruction(context));
  name_place(line, *w, stack, stacks != &w->owner().stacks());
  line.write();
}

}  // namespace

void set_fault_words(const fault_words* words) noexcept { g_words.store(words, std::memory_order_release); }

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
  line.decimal(static_cast<std::int64_t>(w.owner().stacks_of_class(w.current()->size_class).stack_bytes()))
      .text(" bytes");
  name_place(line, w, w.current()->stack, w.current()->size_class != 0);
  line.write();
  std::abort();
}

}  // namespace shoal::sched
