// SPDX-License-Identifier: Apache-2.0
#include "sched/debug_layout.hpp"

#include <cstddef>
#include <string_view>

#include "machine/executor.hpp"
#include "sched/filling.hpp"
#include "sched/movable.hpp"
#include "sched/pool.hpp"
#include "shoal/detail/future_state.hpp"
#include "shoal/detail/loop.hpp"
#include "shoal/task_graph.hpp"

// Compilers give offsets in classes with bases, too; debug_layout_test compares them with addresses.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

#if defined(__x86_64__)
// Exactly this instruction: linkers of executables put the offset into it, those of shared libraries leave the address of
// a word that the loader writes; the script knows both forms. A word of data cannot have it: ld refuses that in libraries.
asm(R"(
  .pushsection .text
  .globl shoal_debug_worker_offset
  .type shoal_debug_worker_offset, @function
shoal_debug_worker_offset:
  .cfi_startproc
  movq _ZN5shoal6detail8t_workerE@gottpoff(%rip), %rax
  ret
  .cfi_endproc
  .size shoal_debug_worker_offset, .-shoal_debug_worker_offset
  .popsection
)");
#endif

namespace shoal {

// The friend of the classes that it describes.
struct debug_offsets {
  using table = std::array<sched::debug_entry, sched::k_debug_entries>;

  static constexpr table make();
};

namespace {

class debug_writer {
public:
  // Too many of them, or too long a name, is no constant expression.
  constexpr void add(std::string_view name, std::uint64_t value, std::string_view group = {}) {
    sched::debug_entry& e = made_[count_++];
    std::size_t at = 0;
    for (const char c : group) e.name[at++] = c;
    for (const char c : name) e.name[at++] = c;
    if (e.name[at] != 0 || count_ == made_.size()) throw "the end is marked by a zero";
    e.value = value;
  }
  constexpr const debug_offsets::table& made() const { return made_; }

private:
  debug_offsets::table made_{};
  std::size_t count_ = 0;
};

constexpr std::string_view k_wait_names[] = {
    "none",       "mutex",  "condition", "semaphore",  "shared_mutex", "barrier", "latch",    "children", "graph",
    "operations", "future", "loop",      "reply",      "settling",     "room",    "credit",   "transfer", "collective",
    "stack",      "time",   "message",   "end_of_job", "promise",      "lock",    "blocking", "thread",   "other"};
static_assert(std::size(k_wait_names) == static_cast<std::size_t>(detail::wait_kind::other) + 1);
static_assert(k_wait_names[static_cast<std::size_t>(detail::wait_kind::message)] == "message");
static_assert(k_wait_names[static_cast<std::size_t>(detail::wait_kind::loop)] == "loop");

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table
constexpr debug_offsets::table debug_offsets::make() {
  using detail::future_kind;
  using detail::future_state;
  using detail::graph_node;
  using detail::loop_state;
  using sched::movable_frame;
  using sched::pool;
  using sched::ready_queue;
  using sched::started;
  using sched::worker;
  debug_writer w;
  w.add("version", sched::k_debug_version);
#define SHOAL_MEMBER(type, member) w.add(#type "." #member, offsetof(type, member))
  SHOAL_MEMBER(worker, signs);
  SHOAL_MEMBER(worker, index);
  SHOAL_MEMBER(worker, tasks);
  SHOAL_MEMBER(worker, arrived_);
  SHOAL_MEMBER(worker, current_);
  SHOAL_MEMBER(worker, native_);
  SHOAL_MEMBER(worker, native_idle_);
  SHOAL_MEMBER(worker, about_now_);
  SHOAL_MEMBER(worker, tended_ns_);
  SHOAL_MEMBER(worker, tended_ticks_);
  SHOAL_MEMBER(worker, ready_);
  SHOAL_MEMBER(worker, stacks_);
  SHOAL_MEMBER(worker, sized_);
  SHOAL_MEMBER(worker, movable_);
  SHOAL_MEMBER(worker, parked_);
  SHOAL_MEMBER(worker, woken_);
  SHOAL_MEMBER(pool, signs_);
  SHOAL_MEMBER(pool, region_);
  SHOAL_MEMBER(pool, classes_);
  SHOAL_MEMBER(pool, workers_);
  SHOAL_MEMBER(pool, native_notes_);
  SHOAL_MEMBER(pool, made_);
  SHOAL_MEMBER(pool, node_);
  SHOAL_MEMBER(ready_queue, ring_);
  SHOAL_MEMBER(ready_queue, mask_);
  SHOAL_MEMBER(ready_queue, first_);
  SHOAL_MEMBER(ready_queue, last_);
  SHOAL_MEMBER(started, code);
  SHOAL_MEMBER(started, node);
  SHOAL_MEMBER(started, number);
  SHOAL_MEMBER(movable_frame, host);
  SHOAL_MEMBER(movable_frame, parting);
  SHOAL_MEMBER(movable_frame, ended);
  SHOAL_MEMBER(future_state, of);
  SHOAL_MEMBER(future_state, name);
  SHOAL_MEMBER(future_kind, step);
  SHOAL_MEMBER(graph_node, call);
  SHOAL_MEMBER(graph_node, name);
  SHOAL_MEMBER(loop_state, pieces);
  {
    using fiber::stack_classes;
    using fiber::stack_notes;
    using fiber::stack_pool;
    using fiber::stack_region;
    using fiber::wait_note;
    using fiber = fiber::fiber;
    SHOAL_MEMBER(fiber, context);
    SHOAL_MEMBER(fiber, owner);
    SHOAL_MEMBER(fiber, wait);
    SHOAL_MEMBER(fiber, notes);
    SHOAL_MEMBER(fiber, stack);
    SHOAL_MEMBER(fiber, size_class);
    SHOAL_MEMBER(fiber, waits_as);
    w.add("fiber", sizeof(fiber));
    SHOAL_MEMBER(stack_notes, running);
    SHOAL_MEMBER(stack_notes, of);
    SHOAL_MEMBER(stack_notes, fills);
    SHOAL_MEMBER(stack_notes, waits_for);
    SHOAL_MEMBER(stack_notes, awaited_name);
    SHOAL_MEMBER(stack_notes, awaited_number);
    w.add("stack_notes", sizeof(stack_notes));
    SHOAL_MEMBER(wait_note, object);
    SHOAL_MEMBER(wait_note, since);
    SHOAL_MEMBER(stack_pool, leases_);
    SHOAL_MEMBER(stack_pool, fresh_);
    SHOAL_MEMBER(stack_pool, fresh_end_);
    SHOAL_MEMBER(stack_region, bases_);
    SHOAL_MEMBER(stack_region, first_stacks_);
    SHOAL_MEMBER(stack_region, stride_bytes_);
    SHOAL_MEMBER(stack_region, capacity_);
    SHOAL_MEMBER(stack_region, stacks_per_lease_);
    SHOAL_MEMBER(stack_classes, made_);
  }
  {
    using sched::filling;
    SHOAL_MEMBER(filling, state);
  }
#if defined(__x86_64__)
  using fiber::saved_registers;
  w.add("rsp", offsetof(saved_registers, stack_pointer));
  w.add("rip", offsetof(saved_registers, go_on));
  SHOAL_MEMBER(saved_registers, rbx);
  SHOAL_MEMBER(saved_registers, rbp);
#endif
#undef SHOAL_MEMBER
  w.add("bottom", lockfree::k_cache_line_bytes);  // of a deque; its top is first
  w.add("classes", fiber::stack_classes::k_classes);
  w.add("movable", sched::worker::k_movable);
  for (std::size_t kind = 0; kind < std::size(k_wait_names); ++kind) {
    w.add(k_wait_names[kind], kind, "wait.");
  }
  return w.made();
}
#pragma GCC diagnostic pop

namespace sched {

debug_moment note_moment(machine::executor& by) noexcept {
  // Referred to: linkers drop what nobody uses.
#if defined(__x86_64__)
  asm volatile("" : : "r"(&shoal_debug_worker_offset));
#endif
  asm volatile("" : : "r"(&shoal_debug_layout));
  return {by.has_real_clock() ? by.now_ns() : 0, base::rough_time::now()};
}

}  // namespace sched
}  // namespace shoal

constinit const std::array<shoal::sched::debug_entry, shoal::sched::k_debug_entries> shoal_debug_layout =
    shoal::debug_offsets::make();
