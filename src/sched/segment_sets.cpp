// SPDX-License-Identifier: Apache-2.0
// The rare cases of dependence_table: segments with many readers, and with groups of tasks with commutative access.
#include "sched/segment_sets.hpp"

#include <algorithm>
#include <utility>

#include "sched/dependence_table.hpp"

namespace shoal::sched {

counted_exclusion& exclusion_store::take() {
  if (free_.empty()) {
    if (free_.capacity() <= all_.size()) free_.reserve(2 * all_.size() + 8);
    all_.emplace_back();
    all_.back().segments = 1;
    return all_.back();
  }
  counted_exclusion& e = *free_.back();
  free_.pop_back();
  e.segments = 1;
  return e;
}

void exclusion_store::put(counted_exclusion& e) noexcept {
  if (--e.segments == 0) free_.push_back(&e);
}

void dependence_table::forget_ended(std::vector<task_reference>& tasks) const {
  std::erase_if(tasks, [this](task_reference r) { return r == 0 || tasks_.find(r) == nullptr; });
}

// For one more: first instead of those that have ended.
void dependence_table::make_room(std::vector<task_reference>& tasks) const {
  if (tasks.size() < tasks.capacity()) return;
  forget_ended(tasks);
  if (2 * tasks.size() >= tasks.capacity()) tasks.reserve(2 * tasks.size() + segment::k_readers);
}

[[gnu::noinline]] void dependence_table::add_further_reader(segment& s, const flow_task& t, task_list& predecessors) {
  const task_reference r = t.reference;
  const bool group = s.more && !s.more->members.empty();
  if (group) {
    for (const task_reference member : s.more->members) add_predecessor(member, t, predecessors);
  } else {
    for (task_reference& there : s.reader)
      if (there == r || tasks_.find(there) == nullptr) {
        there = r;
        return;
      }
  }
  if (!s.more) s.more = std::make_unique<segment_sets>();
  auto& more = s.more->readers;
  if (!more.empty() && more.back() == r) return;
  make_room(more);
  more.push_back(r);
}

// For a writer. Those who have read since the group have waited for it.
[[gnu::noinline]] void dependence_table::end_sets(segment_sets& sets, const flow_task& t,
                                                  task_list& predecessors) const {
  for (const task_reference r : sets.readers) add_predecessor(r, t, predecessors);
  if (sets.readers.empty())
    for (const task_reference r : sets.members) add_predecessor(r, t, predecessors);
  sets.clear();
}

// While there is a group, the segment itself has no writer, and readers that name nothing in all of its slots, so that
// the usual cases need not ask for it.
[[gnu::noinline]] void dependence_table::join_group(segment& s, flow_task& t, task_list& predecessors) {
  if (!s.more) s.more = std::make_unique<segment_sets>();
  segment_sets& sets = *s.more;
  if (sets.excludes == nullptr) sets.excludes = &exclusions_.take();
  tasks_.on_terms(t).want(*sets.excludes);
  if (sets.members.empty()) {
    sets.before.swap(sets.readers);
    sets.readers.clear();
    if (s.readers == 0)
      sets.before.assign(1, s.writer);
    else
      sets.before.insert(sets.before.end(), s.reader, s.reader + s.readers);
    s.writer = 0;
    s.readers = segment::k_readers;
    std::fill_n(s.reader, segment::k_readers, task_reference{0});
  } else if (!sets.readers.empty()) {
    sets.before.swap(sets.readers);
    sets.readers.clear();
    sets.members.clear();
  }
  forget_ended(sets.before);
  for (const task_reference r : sets.before) add_predecessor(r, t, predecessors);
  if (!sets.members.empty() && sets.members.back() == t.reference) return;
  make_room(sets.members);
  sets.members.push_back(t.reference);
}

}  // namespace shoal::sched
