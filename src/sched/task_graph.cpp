// SPDX-License-Identifier: Apache-2.0
#include "shoal/task_graph.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "sched/graph_arrival.hpp"
#include "sched/graph_terms.hpp"
#include "sched/strand.hpp"
#include "sched/worker.hpp"
#include "shoal/error.hpp"
#include "shoal/stop_scope.hpp"

namespace shoal {

using detail::graph_node;

task_graph::task_graph() = default;

task_graph::~task_graph() {
  SHOAL_ASSERT(!running_.load(std::memory_order_relaxed),
               "a task graph is destroyed by one of its own tasks; let it outlive its run()");
  clear();
}

void task_graph::clear() noexcept {
  SHOAL_ASSERT(!running_.load(std::memory_order_relaxed),
               "a task graph is cleared by one of its own tasks; clear it after its run()");
  for (graph_node* n : nodes_)
    if (n->destroy != nullptr) n->destroy(*n);
  ++generation_;
  nodes_.clear();
  names_.clear();
  orders_.clear();
  // The first chunk is for the tasks to come.
  if (!chunks_.empty()) chunks_.erase(chunks_.begin() + 1, chunks_.end());
  chunk_left_ = first_chunk_bytes_;
  chunk_next_ = chunks_.empty() ? nullptr : chunks_.front().get();
  successors_.clear();
  terms_.reset();
  sources_.clear();
  frozen_ = false;
}

void task_graph::refuse(const char* what) {
  throw error(errc::invalid_argument, std::string(what) +
                                          " while this task graph is running: only between two runs may it change, "
                                          "and neither its own tasks nor a second one can run it meanwhile");
}

void task_graph::require_rest(const char* what) const {
  if (running_.load(std::memory_order_relaxed)) refuse(what);
}

void* task_graph::place_for(std::size_t bytes, std::size_t alignment) {
  require_rest("a task is added");
  constexpr std::size_t k_chunk_bytes = std::size_t{16} << 10;
  void* at = chunk_next_;
  if (chunk_left_ == 0 || std::align(alignment, bytes, at, chunk_left_) == nullptr) {
    std::size_t chunk_bytes = std::max(k_chunk_bytes, bytes + alignment);
    chunks_.push_back(std::make_unique_for_overwrite<std::byte[]>(chunk_bytes));
    if (chunks_.size() == 1) first_chunk_bytes_ = chunk_bytes;
    at = chunks_.back().get();
    chunk_left_ = chunk_bytes;
    std::align(alignment, bytes, at, chunk_left_);
  }
  chunk_next_ = static_cast<std::byte*>(at) + bytes;
  chunk_left_ -= bytes;
  return at;
}

void task_graph::adopt(graph_node& n, std::string_view name) {
  n.run = run_from_loop;
  n.group = this;
  n.number = static_cast<std::uint32_t>(nodes_.size());
  try {
    if (!name.empty()) {
      names_.resize(nodes_.size() + 1);
      names_.back() = name;
    }
    nodes_.push_back(&n);
  } catch (...) {
    names_.resize(std::min(names_.size(), nodes_.size()));  // or the next task would be called so
    if (n.destroy != nullptr) n.destroy(n);
    throw;
  }
  frozen_ = false;
}

void task_graph::add_order(const handle& earlier, const handle& later) {
  require_rest("an order is added");
  SHOAL_ASSERT(&earlier.owner() == this && &later.owner() == this,
               "a task can precede tasks of its own graph only; put both into one graph");
  orders_.push_back({earlier.number_, later.number_});
  frozen_ = false;
}

// Lays the successors of each task side by side, finds the tasks to begin with, and makes sure that all can run, as far
// as no condition decides it.
void task_graph::freeze() {
  for (graph_node* n : nodes_) {
    n->successor_count = 0;
    n->predecessors = 0;
  }
  for (const order& o : orders_) {
    ++nodes_[o.earlier]->successor_count;
    ++nodes_[o.later]->predecessors;
  }
  successors_.resize(orders_.size());
  std::size_t first = 0;
  std::vector<std::size_t> next(nodes_.size());
  for (graph_node* n : nodes_) {
    n->successors = successors_.data() + first;
    next[n->number] = first;
    first += n->successor_count;
    n->left.store(n->predecessors, std::memory_order_relaxed);
    n->name = n->number < names_.size() && !names_[n->number].empty() ? names_[n->number].c_str() : nullptr;
  }
  for (const order& o : orders_) successors_[next[o.earlier]++] = nodes_[o.later];

  sources_.clear();
  std::vector<std::int32_t> left(nodes_.size());
  std::vector<graph_node*> ready;
  ready.reserve(nodes_.size());
  for (graph_node* n : nodes_) {
    left[n->number] = n->predecessors;
    if (n->predecessors == 0) ready.push_back(n);
  }
  sources_ = ready;
  for (std::size_t i = 0; i < ready.size(); ++i)
    for (std::uint32_t s = 0; s < ready[i]->successor_count; ++s)
      if (graph_node* later = ready[i]->successors[s]; --left[later->number] == 0) ready.push_back(later);
  if (ready.size() != nodes_.size()) report_cycle(left);
  if (terms_) freeze_terms();
  for (graph_node* n : nodes_) n->run = terms_ ? run_on_terms : run_from_loop;
  frozen_ = true;
}

void task_graph::freeze_terms() {
  terms_->lay_out(nodes_);
  std::erase_if(sources_, [this](const graph_node* n) { return terms_->of(*n).may_be_chosen; });
  if (sources_.empty() && !nodes_.empty())
    throw error(errc::invalid_argument,
                "no task of this graph can begin: each one follows another task or waits to be chosen by a condition; "
                "add a task before them that does neither");
}

std::string task_graph::title(std::uint32_t number) const {
  if (number < names_.size() && !names_[number].empty()) return "\"" + names_[number] + "\"";
  return "task " + std::to_string(number);
}

// Each task that could never begin has such a predecessor: going back along these comes round in the end.
void task_graph::report_cycle(const std::vector<std::int32_t>& left) const {
  std::vector<std::uint32_t> predecessor(nodes_.size());
  std::uint32_t at = 0;
  for (const order& o : orders_)
    if (left[o.earlier] > 0 && left[o.later] > 0) {
      predecessor[o.later] = o.earlier;
      at = o.later;
    }
  for (std::size_t i = 0; i < nodes_.size(); ++i) at = predecessor[at];  // surely on a cycle now
  std::vector<std::uint32_t> cycle;
  const std::uint32_t begin = at;
  do {
    cycle.push_back(at);
    at = predecessor[at];
  } while (at != begin);
  // Backwards so far. Begin with the task that was added first.
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  constexpr std::size_t k_most_named = 32;
  std::string path;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (cycle.size() > k_most_named && i == k_most_named / 2) {
      path += "... " + std::to_string(cycle.size() - k_most_named) + " more ... -> ";
      i = cycle.size() - k_most_named / 2;
    }
    path += title(cycle[i]) + " -> ";
  }
  throw error(errc::invalid_argument, "tasks of this graph precede one another in a cycle, so that none can begin: " +
                                          path + title(cycle.front()) + "; take out one of these orders");
}

void task_graph::run(const stop_scope& s) { run_whole(&s); }

void task_graph::run_whole(const detail::scope* given) {
  if (filling_)
    throw error(errc::invalid_argument,
                "run() is called on the graph that a task was given to fill; it runs when the task's body has ended");
  run_in(*this, given);
}

// `whole`: this graph, or the one of which it is a part: then a failure is one of the whole, and so is a stop.
void task_graph::run_in(task_graph& whole, const detail::scope* given) {
  detail::worker_base& w = detail::worker_here();
  if (running_.exchange(true, std::memory_order_acquire)) refuse("run() is called");
  try {
    if (!frozen_) freeze();
  } catch (...) {
    running_.store(false, std::memory_order_release);
    throw;
  }
  static_cast<sched::worker&>(w).expect_other_work();
  root_ = &whole == this ? this : whole.root_;
  if (root_ == this) {
    failed_.store(false, std::memory_order_relaxed);
    scope_ = given != nullptr ? given : w.scope;
    given_scope_ = given;
  }
  if (terms_) {
    reset_terms();
    begin_on_terms(w);
    help_on_terms(w);
  } else {
    begin_all(w);
    help(w);
  }
  unfinished_.wait(detail::wait_kind::graph);
  running_.store(false, std::memory_order_release);  // partner: the exchange of the next run
  unfinished_.rethrow();
}

void task_graph::begin_all(detail::worker_base& w) noexcept {
  unfinished_.add(static_cast<std::int64_t>(nodes_.size()));
  // Backwards: the first one is then the first to run here, and the last ones go to thieves.
  for (auto it = sources_.rbegin(); it != sources_.rend(); ++it) {
    try {
      detail::spawn(w, **it);
    } catch (const std::bad_alloc&) {  // for a longer deque
      unfinished_.ran_here(run_strand(*it));
    }
  }
}

void task_graph::help(detail::worker_base& w) noexcept {
  while (!unfinished_.nothing_begun() && static_cast<sched::worker&>(w).has_room()) {
    detail::take_turn(w);
    detail::task* t = detail::unspawn_of(w, this);
    if (t == nullptr) break;
    unfinished_.ran_here(run_strand(static_cast<graph_node*>(t)));
  }
}

// A failure of a part is one of the whole.
[[gnu::cold, gnu::noinline]] void task_graph::fail(std::exception_ptr e) noexcept {
  root_->unfinished_.fail(std::move(e));
  // Relaxed: who must not begin has this from the task's end.
  root_->failed_.store(true, std::memory_order_relaxed);
}

void task_graph::run_from_loop(detail::task& t) noexcept {
  auto& n = static_cast<graph_node&>(t);
  auto& graph = *static_cast<task_graph*>(const_cast<void*>(n.group));
  graph.unfinished_.done(graph.run_strand(&n));
}

// Gives how many tasks it has run. The graph exists until these are counted.
std::int64_t task_graph::run_strand(graph_node* n) noexcept {
  detail::worker_base& w = *detail::t_worker;
  const bool alone = sched::alone(w);
  const sched::strand_scope inside(root_->scope_);
  sched::known_as known(static_cast<sched::worker&>(w).begun(), nullptr, nullptr);
  for (std::int64_t count = 1;; ++count) {
    known.change(n);
    if (!root_->drops()) [[likely]]
      sched::run_body([this](std::exception_ptr e) { fail(std::move(e)); }, [n] { n->call(*n); });
    graph_node* next = nullptr;
    graph_node* const* const end = n->successors + n->successor_count;
    for (graph_node* const* s = n->successors; s != end; ++s) {
      if (!sched::arrive(**s, alone)) continue;
      if (next == nullptr)
        next = *s;
      else
        detail::spawn(w, **s);
    }
    if (next == nullptr) return count;
    if (sched::gives_way(w)) [[unlikely]] {
      detail::spawn(w, *next);
      return count;
    }
    n = next;
  }
}

}  // namespace shoal
