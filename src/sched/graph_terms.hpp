// SPDX-License-Identifier: Apache-2.0
// What a graph has besides plain order, if it has any of it: priorities, exclusions, conditions. Without, a graph does
// not have this object, and runs by shorter code.
// Who may call: lay_out() the task that uses the graph; the rest the workers that run it. Never switches tasks.
// Guarantees: two tasks that use the same object want the same exclusion. In a graph with conditions tasks are counted
// when they become ready, since nobody knows in advance how many will.
// Tests: tests/unit/sched/graph_condition_test.cpp, graph_exclusion_test.cpp, graph_priority_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sched/exclusion.hpp"
#include "shoal/priority.hpp"
#include "shoal/task_graph.hpp"

namespace shoal::sched {

/// Of one task.
struct node_terms : claim {
  detail::graph_node* node = nullptr;
  detail::condition_node* condition = nullptr;   // the same, if it is one
  detail::graph_node* const* choices = nullptr;  // of the list of all
  std::uint32_t choice_count = 0;
  priority rank = priority::normal;
  bool may_be_chosen = false;
  // Of tasks that may be chosen: ready and not ended. Partners: those that make it ready.
  std::atomic<bool> begun{false};
};

}  // namespace shoal::sched

namespace shoal::detail {

struct graph_terms {
  using number = std::uint32_t;

  // As declared, by numbers of tasks:
  std::vector<std::pair<number, priority>> priorities;
  std::vector<std::pair<number, const void*>> uses;
  std::vector<std::pair<number, number>> choices;
  std::vector<condition_node*> conditions;

  /// Makes the rest anew.
  void lay_out(const std::vector<graph_node*>& nodes);
  bool counts_when_ready() const noexcept { return !conditions.empty(); }
  sched::node_terms& of(const graph_node& n) const noexcept { return by_node[n.number]; }

  std::unique_ptr<sched::node_terms[]> by_node;
  std::unique_ptr<sched::exclusion[]> exclusions;
  std::vector<graph_node*> chosen;  // the choices of all conditions, one after the other
};

}  // namespace shoal::detail
