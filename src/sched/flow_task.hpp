// SPDX-License-Identifier: Apache-2.0
// Tasks of a task_flow and their storage: places of two cache lines, reused until the flow is destroyed. A reference to
// a task has the number of its place and the generation of the place, so an outdated reference is detected.
// Who may call: the registering task; the worker that runs a flow_task uses the members that are not marked as the
// registering task's. Guarantees: a reference names either the intended task, or one that is known to have ended.
// Tests: tests/unit/sched/task_flow_test.cpp; model: tests/model/dependence_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sched/exclusion.hpp"
#include "sched/successors.hpp"
#include "shoal/priority.hpp"
#include "shoal/task_flow.hpp"

namespace shoal::sched {

/// Place in the low half, generation in the high one; 0 names nothing.
using task_reference = std::uint64_t;

struct flow_task;

/// Further successors; blocks are the registering task's, who frees them when the place is used again.
struct successor_block {
  static constexpr std::uint32_t k_slots = 14;
  successor_block* next;
  successor_block* last;  // of the first block only
  flow_task* slots[k_slots];
};
static_assert(sizeof(successor_block) == detail::worker_base::k_block_bytes);

/// What few tasks have besides their accesses: a priority, exclusions.
struct flow_terms : claim {
  flow_task* task = nullptr;
  priority rank = priority::normal;
  void (*act)(detail::flow_body& self, bool call) = nullptr;  // of the body
};

struct alignas(64) flow_task final : detail::task, detail::flow_body {
  static constexpr std::uint32_t k_slots = 3;

  successor_count<> successors;
  arrival_count<> left;
  task_reference reference = 0;  // registering task only
  task_reference asked_by = 0;   // registering task only: the task that has this one among its predecessors already
  union {
    flow_task* next = nullptr;  // among those that have ended
    flow_terms* terms;          // until then; nullptr: it has none
  };
  successor_block* more = nullptr;  // registering task; the end of the task reads as many as successors.close() counted
  flow_task* slots[k_slots] = {};   // the same

  /// Registering task. False: this task has ended, `later` need not wait for it.
  bool precede(flow_task& later, bool alone) {
    const std::uint32_t at = successors.written();
    if (at < k_slots) [[likely]] {
      slots[at] = &later;
      return successors.add(alone);
    }
    return precede_further(later, at - k_slots, alone);
  }

  /// Whoever ends the task: calls f(successor) for each.
  template <class F>
  void for_successors(std::uint32_t count, F&& f) const {
    for (std::uint32_t i = 0; i < count && i < k_slots; ++i) f(*slots[i]);
    // Never beyond the count: the registering task may be writing there.
    const successor_block* block = count > k_slots ? more : nullptr;
    for (std::uint32_t left_over = count - k_slots; block != nullptr;) {
      const std::uint32_t here = left_over < successor_block::k_slots ? left_over : successor_block::k_slots;
      for (std::uint32_t i = 0; i < here; ++i) f(*block->slots[i]);
      left_over -= here;
      block = left_over > 0 ? block->next : nullptr;
    }
  }

private:
  bool precede_further(flow_task& later, std::uint32_t at, bool alone);
};
#if !SHOAL_TSAN && !SHOAL_ASAN
static_assert(sizeof(flow_task) == 128);
#endif

class flow_task_store {
public:
  using action = decltype(detail::flow_body::act);
  /// Tasks on terms have this in place of `act`.
  explicit flow_task_store(action act_on_terms = nullptr) noexcept : act_on_terms_(act_on_terms) {}
  flow_task_store(const flow_task_store&) = delete;
  flow_task_store& operator=(const flow_task_store&) = delete;
  ~flow_task_store();

  std::size_t size() const noexcept { return size_; }
  /// A place for a new task, open; nullptr if none is free.
  flow_task* take() noexcept {
    flow_task* const t = free_;
    if (t == nullptr) [[unlikely]]
      return nullptr;
    free_ = t->next;
    t->terms = nullptr;
    if (t->more != nullptr) [[unlikely]]
      free_blocks(*t);
    t->reference += k_generation;
    if (t->reference < k_generation) [[unlikely]]
      t->reference += k_generation;  // wrapped around: generation 0 is not used
    t->asked_by = t->reference;      // no task waits for itself
    t->successors.open();
    return t;
  }
  /// More places, no more than `most` in all.
  void grow(std::size_t most, detail::task::function run, const void* group);
  /// Makes `t`, which has been taken and is not shared yet, a task on terms, unless it is one. The memory is kept for
  /// the next such task in the same place.
  flow_terms& on_terms(flow_task& t);
  /// A chain of tasks that have ended.
  void put(flow_task* first) noexcept;

  /// The task if it has not ended.
  flow_task* find(task_reference r) const noexcept {
    const auto place = static_cast<std::uint32_t>(r);
    flow_task& t = chunks_[place / k_chunk][place % k_chunk];
    return t.reference == r && !t.successors.closed() ? &t : nullptr;
  }

private:
  static constexpr std::size_t k_chunk = 256;
  static constexpr task_reference k_generation = task_reference{1} << 32;

  static void free_blocks(flow_task& t) noexcept;

  std::vector<std::unique_ptr<flow_task[]>> chunks_;
  std::vector<std::unique_ptr<flow_terms>> terms_;  // by place, as far as needed
  std::size_t size_ = 0;
  flow_task* free_ = nullptr;
  const action act_on_terms_;
};

}  // namespace shoal::sched
