// SPDX-License-Identifier: Apache-2.0
// What few segments of a dependence_table have: more readers than fit into the segment, and a group of tasks with
// commutative access in place of a writer. The tasks of a group wait for what came before it, and exclude each other;
// what comes after waits for all of them.
// Who may call: the registering task. Guarantees: a segment keeps its exclusion as long as it exists, since groups of
// the same bytes run one after the other; parts of a split segment share it. An exclusion is used again when no segment
// has it, and so no unfinished task either.
// Tests: tests/unit/sched/dependence_table_test.cpp, tests/unit/sched/commutative_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <vector>

#include "sched/exclusion.hpp"
#include "sched/flow_task.hpp"

namespace shoal::sched {

struct counted_exclusion : exclusion {
  std::size_t segments = 0;
};

/// The exclusions of a flow.
class exclusion_store {
public:
  counted_exclusion& take();
  /// A segment that had it is gone.
  void put(counted_exclusion& e) noexcept;
  bool in_use() const noexcept { return free_.size() != all_.size(); }

private:
  std::deque<counted_exclusion> all_;
  std::vector<counted_exclusion*> free_;  // room for all
};

struct segment_sets {
  std::vector<task_reference> readers;  // since the writer or the group
  std::vector<task_reference> members;  // of the group; empty: there is none
  std::vector<task_reference> before;   // what the members wait for
  counted_exclusion* excludes = nullptr;

  bool empty() const noexcept { return readers.empty() && members.empty() && excludes == nullptr; }
  void clear() noexcept {
    readers.clear();
    members.clear();
    before.clear();
  }
};

}  // namespace shoal::sched
