// SPDX-License-Identifier: Apache-2.0
// The last writer of each byte, or the last group of tasks with commutative access (segment_sets.hpp), and the readers
// since then, as disjoint segments of the address space. Segments are split where regions overlap in part.
// Who may call: the registering task. Never switches tasks; may throw std::bad_alloc, and must be cleared then.
// Guarantees: register_accesses() adds to the predecessors all unfinished tasks that the new one must wait for, each
// once. A region with the extent of an earlier one is found by hashing; any other one takes O(log n) per segment in it.
// Entries of finished tasks are removed, so unfinished tasks bound the memory.
// Tests: tests/unit/sched/dependence_table_test.cpp, and tests/stress/dependences_test.cpp against brute force.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sched/flow_task.hpp"
#include "sched/segment_index.hpp"
#include "sched/segment_sets.hpp"
#include "shoal/region.hpp"

namespace shoal::sched {

struct alignas(64) segment {
  static constexpr std::uint32_t k_readers = 3;

  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  task_reference writer = 0;
  std::uint32_t slot = 0;     // in the hash
  std::uint32_t readers = 0;  // of those right here
  task_reference reader[k_readers] = {};
  std::unique_ptr<segment_sets> more;  // in use only if the readers right here are all in use
};
static_assert(sizeof(segment) == 64);

class dependence_table {
public:
  explicit dependence_table(flow_task_store& tasks) : tasks_(tasks) {}

  using task_list = std::vector<flow_task*>;
  /// Registers the accesses of `t` and adds the tasks that it must wait for to `predecessors`. Commutative accesses make
  /// it a task on terms, which wants their exclusions.
  void register_accesses(flow_task& t, std::span<const access> declared, task_list& predecessors);

  /// All tasks have ended.
  void clear() noexcept;
  std::size_t segments() const noexcept { return segments_; }

private:
  struct entry {
    std::uintptr_t begin;
    segment* at;  // nullptr: empty
  };

  std::size_t home(std::uintptr_t begin) const noexcept;
  void register_access(flow_task& t, const access& a, task_list& predecessors);
  void touch(segment& s, flow_task& t, access_mode mode, task_list& predecessors);
  void walk(std::uintptr_t begin, std::uintptr_t end, flow_task& t, access_mode mode, task_list& predecessors);
  segment* append(std::uintptr_t begin, std::uintptr_t end, entry& empty);
  void add_reader(segment& s, const flow_task& t, task_list& predecessors);
  void add_further_reader(segment& s, const flow_task& t, task_list& predecessors);
  void end_sets(segment_sets& sets, const flow_task& t, task_list& predecessors) const;
  void join_group(segment& s, flow_task& t, task_list& predecessors);
  void forget_ended(std::vector<task_reference>& tasks) const;
  void make_room(std::vector<task_reference>& tasks) const;
  void add_predecessor(task_reference r, const flow_task& t, task_list& predecessors) const;
  entry& find(std::uintptr_t begin) noexcept;
  segment& make(segment_index::place where, std::uintptr_t begin, std::uintptr_t end, entry& empty);
  segment& new_segment();
  void split(segment& s, std::uintptr_t at);
  void hash(segment& s) noexcept;
  void resize_hash(std::size_t capacity);
  void make_way();
  bool matters(segment& s) const noexcept;
  void drop_exclusion(segment& s) noexcept;
  void sweep();

  static constexpr std::size_t k_line = 64 / sizeof(entry);
  static constexpr std::size_t k_least_capacity = 256;
  static constexpr std::size_t k_least_sweep = std::size_t{1} << 15;
  static constexpr std::size_t k_chunk = 64;

  flow_task_store& tasks_;
  exclusion_store exclusions_;
  segment_index index_;
  std::vector<entry> hash_;
  std::size_t mask_ = 0;
  unsigned shift_ = 0;
  unsigned granule_bits_ = 0;  // of the first region: the size of most others, as a rule
  std::size_t segments_ = 0;
  std::size_t most_segments_ = 0;  // before the hash grows or a sweep is due
  std::size_t sweep_at_ = k_least_sweep;
  std::vector<std::unique_ptr<segment[]>> chunks_;
  std::size_t chunks_begun_ = 0;
  segment* fresh_ = nullptr;  // the rest of the last chunk begun
  segment* fresh_end_ = nullptr;
  std::vector<segment*> free_;
  std::vector<segment*> kept_;
};

inline void dependence_table::add_predecessor(task_reference r, const flow_task& t, task_list& predecessors) const {
  if (r == 0) return;
  flow_task* const p = tasks_.find(r);
  if (p == nullptr || p->asked_by == t.reference) return;
  p->asked_by = t.reference;
  predecessors.push_back(p);
}

}  // namespace shoal::sched
