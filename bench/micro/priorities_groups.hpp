// SPDX-License-Identifier: Apache-2.0
// The third experiment of `shoal bench priorities`: groups of workers that compute in steps and wait for each other
// after each step. Each group is a pool of its own. The first one has `imbalance` times as much work as each other
// one. The same work is treated in several ways, see `treatment`, and compared with the ideal time. Processors move
// between groups: the workers are pinned to others while they run.
// Who may call: one thread outside the runtime. Test: tests/unit/bench/priorities_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::bench {

/// Processors of each group, as numbers from 0. Groups share processors only if there are more groups than processors.
using allotment = std::vector<std::vector<unsigned>>;

/// For groups with so much work: one each, the others in proportion to the work, at most `workers` for a group;
/// with more groups than processors each group gets one, so that the processors have work alike.
allotment deal_processors(std::span<const double> work, unsigned processors, unsigned workers);
/// Processors of which no group computes any more are given to the groups that do, to those with the fewest first.
allotment lend_processors(const allotment& homes, const std::vector<bool>& computes, unsigned workers);

enum class treatment : std::uint8_t {
  even,       // none, but the same work is divided evenly
  untreated,  // each group has an equal part of the processors
  shared,     // all workers may use all processors
  nice,       // the same, and the workers of all groups but the first have a higher nice value
  high,       // all groups are tasks of one pool, those of the first group with high priority
  moved,      // between steps, the groups get processors in proportion to the work measured so far
  lent,       // within a step, a group that has ended lends its processors to those that still compute
};
struct treatment_name {
  treatment how;
  const char* name;
};
constexpr std::array<treatment_name, 7> k_treatments = {{{treatment::even, "even"},
                                                         {treatment::untreated, "untreated"},
                                                         {treatment::shared, "shared"},
                                                         {treatment::nice, "nice"},
                                                         {treatment::high, "high"},
                                                         {treatment::moved, "moved"},
                                                         {treatment::lent, "lent"}}};

struct groups_request {
  unsigned groups = 2;
  unsigned workers = 0;     // of each group; 0: as many as processors
  unsigned processors = 0;  // that all groups use together; 0: as a node has
  unsigned steps = 10;
  unsigned tasks = 200;  // of a step in each group but the first, for each processor of an equal part
  double task_us = 50;   // of processor time
  double imbalance = 3;
  int nice = 10;  // how much more
};
/// With the values of this machine for zeros. Throws shoal::error if there are fewer processors.
groups_request completed(groups_request r);
/// Of a step in each group.
std::vector<unsigned> tasks_of(const groups_request& r, bool evenly);

/// A step's work by one thread, without the runtime.
struct groups_work {
  std::uint64_t rounds = 0;  // of a task
  std::uint64_t sum = 0;
  double seconds = 0;  // of processor time
};
groups_work measure_work(const groups_request& r);
/// Of a step: its work divided by the processors, or the first group's work by its workers if that takes longer.
double ideal_seconds(const groups_request& r, const groups_work& work);

struct groups_result {
  double seconds = 0;               // of a step
  double first_seconds = 0;         // that the first group computes, of a step
  double others_seconds = 0;        // the same of the others, on average
  double moved = 0;                 // workers that got other processors, for each step
  unsigned of_first = 0;            // processors on which tasks of the first group ran
  bool stayed = true;               // no task ran outside of its group's processors, where those do not change
  bool granted = true;              // the system refused no processor and no nice value
  std::vector<std::uint64_t> sums;  // by step
};
groups_result run_groups(const groups_request& r, treatment how, const groups_work& work);

}  // namespace shoal::bench
