// SPDX-License-Identifier: Apache-2.0
// How a graph with terms runs. Where no comment says otherwise, as task_graph.cpp has it.
#include "sched/graph_terms.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <new>
#include <string>

#include "sched/graph_arrival.hpp"
#include "sched/strand.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"

namespace shoal {

using detail::graph_node;
using detail::graph_terms;
using sched::node_terms;

void graph_terms::lay_out(const std::vector<graph_node*>& nodes) {
  by_node = std::make_unique<node_terms[]>(nodes.size());
  for (graph_node* n : nodes) by_node[n->number].node = n;
  for (condition_node* c : conditions) by_node[c->number].condition = c;
  for (const auto& [task, p] : priorities) by_node[task].rank = p;

  for (const auto& [condition, choice] : choices) ++by_node[condition].choice_count;
  chosen.resize(choices.size());
  std::size_t first = 0;
  for (const condition_node* c : conditions) {
    node_terms& terms = by_node[c->number];
    terms.choices = chosen.data() + first;
    first += std::exchange(terms.choice_count, 0);
  }
  for (const auto& [condition, choice] : choices) {
    node_terms& terms = by_node[condition];
    chosen[static_cast<std::size_t>(terms.choices - chosen.data()) + terms.choice_count++] = nodes[choice];
    by_node[choice].may_be_chosen = true;
  }

  std::vector<const void*> objects;
  for (const auto& use : uses) objects.push_back(use.second);
  std::sort(objects.begin(), objects.end(), std::less<>());
  objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
  exclusions = std::make_unique<sched::exclusion[]>(objects.size());
  for (const auto& [task, object] : uses) {
    const auto at = std::lower_bound(objects.begin(), objects.end(), object, std::less<>());
    by_node[task].want(exclusions[static_cast<std::size_t>(at - objects.begin())]);
  }
}

// One strand: what follows the task that has just ended here.
class task_graph::strand_on_terms {
public:
  strand_on_terms(task_graph& g, graph_node* first) noexcept : graph_(g), next_(first) {}

  /// Gives how many tasks to count as ended; the graph exists until they are.
  std::int64_t run() noexcept {
    const sched::strand_scope inside(graph_.root_->scope_);
    sched::known_as known(static_cast<sched::worker&>(w_).begun(), nullptr, nullptr);
    for (;;) {
      graph_node* const n = std::exchange(next_, nullptr);
      next_is_counted_ = false;
      known.change(n);
      node_terms& terms = terms_.of(*n);
      if (terms.condition != nullptr) terms.condition->chosen = k_none;
      if (!graph_.root_->drops()) [[likely]]
        sched::run_body([this](std::exception_ptr e) { graph_.fail(std::move(e)); }, [n] { n->call(*n); });
      end(terms);
      // What runs next takes over the place of `n` in the count, if it has none of its own.
      const bool passed_on = counts_when_ready_ && next_ != nullptr && !next_is_counted_;
      if (!passed_on) ++ended_;
      if (next_ == nullptr) return ended_;
      const priority rank = rank_of(terms_.of(*next_));
      if (sched::gives_way(w_, rank == priority::high)) [[unlikely]] {
        if (passed_on) {
          graph_.unfinished_.add_elsewhere();
          ++ended_;
        }
        sched::spawn_ranked(w_, *next_, rank);
        return ended_;
      }
    }
  }

  static priority rank_of(const node_terms& terms) noexcept { return terms.rank_once_claimed(terms.rank); }
  /// For tasks that claim when they begin.
  static void spawn_late(detail::worker_base& w, const node_terms& terms) {
    terms.node->run = [](detail::task& t) noexcept {
      auto& n = static_cast<graph_node&>(t);
      n.run = run_on_terms;
      if (static_cast<const task_graph*>(n.group)->terms_->of(n).claim_all()) run_on_terms(n);
    };
    detail::spawn_apart(w, *terms.node, terms.rank);
  }

private:
  void end(node_terms& terms) noexcept {
    terms.leave_all([this](sched::claim& c) { take(static_cast<node_terms&>(c), true); });
    // Relaxed: it only finds out misuse; the end of `n` reaches what follows by other words.
    if (terms.may_be_chosen) terms.begun.store(false, std::memory_order_relaxed);
    if (counts_when_ready_ && graph_.root_->drops()) return;  // the others are dropped
    if (terms.condition != nullptr) choose(terms);
    const graph_node& n = *terms.node;
    for (graph_node* const* s = n.successors; s != n.successors + n.successor_count; ++s)
      if (sched::arrive(**s, alone_)) become_ready(**s);
  }

  void choose(const node_terms& terms) noexcept {
    const std::int64_t chosen = terms.condition->chosen;
    if (chosen == k_none) return;
    if (chosen < 0 || chosen >= static_cast<std::int64_t>(terms.choice_count)) [[unlikely]]
      return graph_.fail_choice(*terms.node, terms.choice_count, chosen);
    become_ready(*terms.choices[chosen]);
  }

  void become_ready(graph_node& n) noexcept {
    node_terms& terms = terms_.of(n);
    if (terms.may_be_chosen && terms.begun.exchange(true, std::memory_order_relaxed)) [[unlikely]]
      return graph_.fail_twice(n);
    const bool counted = counts_when_ready_ && !terms.wanted.empty();
    if (counted) graph_.unfinished_.add_elsewhere();  // before another worker may run it
    if (terms.claims_late(terms.rank))
      spawn_late(w_, terms);
    else if (terms.claim_all())
      take(terms, counted);
  }

  // `terms` may begin. The strand goes on with the first of the highest rank.
  void take(node_terms& terms, bool counted) noexcept {
    graph_node* n = terms.node;
    if (goes_next(rank_of(terms))) {
      std::swap(n, next_);
      std::swap(counted, next_is_counted_);
    }
    if (n == nullptr) return;
    if (counts_when_ready_ && !counted) graph_.unfinished_.add_elsewhere();
    sched::spawn_ranked(w_, *n, rank_of(terms_.of(*n)));
  }
  // Low ones do not: there may be others to run before.
  bool goes_next(priority rank) const noexcept {
    if (next_ == nullptr) return rank <= priority::normal;
    return rank == priority::high && rank_of(terms_.of(*next_)) != priority::high;
  }

  task_graph& graph_;
  const graph_terms& terms_ = *graph_.terms_;
  detail::worker_base& w_ = *detail::t_worker;
  const bool alone_ = sched::alone(w_);
  const bool counts_when_ready_ = terms_.counts_when_ready();
  graph_node* next_;
  bool next_is_counted_ = false;
  std::int64_t ended_ = 0;
};

// What the last run may have left, if tasks were not chosen or dropped.
void task_graph::reset_terms() noexcept {
  if (!terms_->counts_when_ready()) return;
  for (graph_node* n : nodes_) {
    n->left.store(n->predecessors, std::memory_order_relaxed);
    terms_->of(*n).begun.store(false, std::memory_order_relaxed);
  }
}

// Those that no other task makes ready.
void task_graph::begin_on_terms(detail::worker_base& w) noexcept {
  unfinished_.add(static_cast<std::int64_t>(terms_->counts_when_ready() ? sources_.size() : nodes_.size()));
  for (auto it = sources_.rbegin(); it != sources_.rend(); ++it) {
    node_terms& terms = terms_->of(**it);
    const bool late = terms.claims_late(terms.rank);
    if (!late && !terms.claim_all()) continue;
    try {
      if (late)
        strand_on_terms::spawn_late(w, terms);
      else
        sched::spawn_ranked(w, **it, terms.rank);
    } catch (const std::bad_alloc&) {  // for a longer deque
      (*it)->run(**it);
    }
  }
}

// A graph with terms may end on its own account only by done(): see completion::add_elsewhere().
void task_graph::help_on_terms(detail::worker_base& w) noexcept {
  while (static_cast<sched::worker&>(w).has_room()) {
    detail::take_turn(w);
    detail::task* const t = detail::unspawn_of(w, this);
    if (t == nullptr) return;
    run_on_terms(*t);
  }
}

void task_graph::fail_as(const std::string& why) noexcept {
  fail(std::make_exception_ptr(error(errc::invalid_argument, why)));
}

void task_graph::fail_choice(const graph_node& n, std::uint32_t choices, std::int64_t chosen) noexcept {
  fail_as("the condition " + title(n.number) + " has returned " + std::to_string(chosen) + ", but it has " +
          std::to_string(choices) +
          " choices, counted from 0; give it more with chooses(), or return task_graph::k_none " + "to choose none");
}

void task_graph::fail_twice(const graph_node& n) noexcept {
  fail_as(title(n.number) +
          " is begun by two paths of its graph at the same time; let the paths meet, by precedes(), " +
          "before one of them chooses it");
}

void task_graph::run_on_terms(detail::task& t) noexcept {
  auto& n = static_cast<graph_node&>(t);
  auto& graph = *static_cast<task_graph*>(const_cast<void*>(n.group));
  graph.unfinished_.done(strand_on_terms(graph, &n).run());
}

detail::graph_terms& task_graph::terms_to_declare(const handle& of, const char* what) {
  require_rest(what);
  SHOAL_ASSERT(&of.owner() == this, "a condition chooses among tasks of its own graph; put all into one graph");
  frozen_ = false;
  if (!terms_) terms_ = std::make_unique<graph_terms>();
  return *terms_;
}

void task_graph::set_rank(const handle& of, priority p) {
  terms_to_declare(of, "a priority is set").priorities.emplace_back(of.number_, p);
}

void task_graph::add_use(const handle& of, const void* object) {
  terms_to_declare(of, "a use is added").uses.emplace_back(of.number_, object);
}

void task_graph::add_choice(const handle& from, const handle& next) {
  terms_to_declare(next, "a choice is added").choices.emplace_back(from.number_, next.number_);
}

void task_graph::adopt_condition(detail::condition_node& n, std::string_view name) {
  if (!terms_) terms_ = std::make_unique<graph_terms>();
  terms_->conditions.reserve(terms_->conditions.size() + 1);
  adopt(n, name);
  terms_->conditions.push_back(&n);
}

}  // namespace shoal
