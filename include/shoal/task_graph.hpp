// SPDX-License-Identifier: Apache-2.0
// A graph of tasks with an explicit order, built once and run repeatedly.
//   shoal::task_graph g;  auto a = g.add(f);  auto b = g.add(h);  a.precedes(b);  g.run();
// Who may call: one task at a time, but no task of the graph; add() and precedes() also any thread before a pool
// exists. run() switches tasks.
// Guarantees: a task starts when all its predecessors have ended, and sees their effects. Of the tasks that become
// ready at the end of a task, the same worker runs one directly; thieves may take the others. run() throws shoal::error
// with the names of the tasks, and starts none, if tasks precede each other in a cycle. If a task throws, tasks that
// have not begun are dropped, and run() rethrows the first exception when all running tasks have ended. Bodies may
// wait.
// Costs of a run: per task a call and an atomic decrement per successor; no allocation, no lock.
// Shown by tests/unit/sched/task_graph_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/worker.hpp"
#include "shoal/task.hpp"

namespace shoal {

namespace detail {

/// A task of a graph; its body follows it in memory.
struct graph_node : task {
  void (*call)(graph_node&) = nullptr;
  graph_node* const* successors = nullptr;  // of the graph's list of all
  std::uint32_t successor_count = 0;
  std::uint32_t number = 0;
  const char* name = nullptr;  // valid once frozen
  std::int32_t predecessors = 0;
  std::atomic<std::int32_t> left{
      0};  // predecessors that have not ended in this run; partners: the workers that end them
  void (*destroy)(graph_node&) noexcept = nullptr;
};

}  // namespace detail

class task_graph {
public:
  /// A handle of a task; valid until the graph is cleared or destroyed.
  class handle {
  public:
    handle() = default;
    /// This task ends before any of `later` begins.
    template <class... Handles>
    void precedes(Handles... later) const {
      (owner().add_order(*this, later), ...);
    }
    /// Each of `earlier` ends before this task begins.
    template <class... Handles>
    void succeeds(Handles... earlier) const {
      (owner().add_order(earlier, *this), ...);
    }
    /// In the order of add(), from 0.
    std::size_t number() const noexcept { return owner(), number_; }

  private:
    friend class task_graph;
    handle(task_graph& g, std::uint32_t number) noexcept : graph_(&g), number_(number), generation_(g.generation_) {}
    task_graph& owner() const noexcept {
      SHOAL_ASSERT(graph_ != nullptr, "this handle names no task; take one that task_graph::add() gave");
      SHOAL_ASSERT(generation_ == graph_->generation_,
                   "this handle is of before clear(), which has forgotten its task; take one that add() gave since");
      return *graph_;
    }
    task_graph* graph_ = nullptr;
    std::uint32_t number_ = 0;
    std::uint32_t generation_ = 0;
  };

  task_graph() = default;
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;
  ~task_graph();

  /// Adds a task; each run calls `f` once.
  template <detail::task_body F>
  handle add(F&& f) {
    return add(std::string_view(), std::forward<F>(f));
  }
  /// The same with a name for error messages.
  template <detail::task_body F>
  handle add(std::string_view name, F&& f) {
    using node = node_of<std::decay_t<F>>;
    node* const made = ::new (place_for(sizeof(node), alignof(node))) node(std::in_place, std::forward<F>(f));
    adopt(*made, name);
    return handle(*this, made->number);
  }

  /// Runs every task once, in the order given. Returns when all have ended. May switch.
  void run();

  std::size_t size() const noexcept { return nodes_.size(); }
  /// Removes all tasks; their handles become invalid.
  void clear() noexcept;

private:
  template <class F>
  struct node_of final : detail::graph_node {
    template <class G>
    node_of(std::in_place_t, G&& f) : body(std::forward<G>(f)) {
      this->call = [](detail::graph_node& n) { static_cast<node_of&>(n).body(); };
      if constexpr (!std::is_trivially_destructible_v<F>)
        this->destroy = [](detail::graph_node& n) noexcept { static_cast<node_of&>(n).body.~F(); };
    }
    F body;
  };
  struct order {
    std::uint32_t earlier;
    std::uint32_t later;
  };

  void* place_for(std::size_t bytes, std::size_t alignment);
  void adopt(detail::graph_node& n, std::string_view name);
  void add_order(const handle& earlier, const handle& later);
  [[noreturn]] static void refuse(const char* what);
  void require_rest(const char* what) const;
  void freeze();
  [[noreturn]] void report_cycle(const std::vector<std::int32_t>& left) const;
  std::string title(std::uint32_t number) const;
  static void run_from_loop(detail::task& t) noexcept;
  std::int64_t run_strand(detail::graph_node* n) noexcept;

  std::vector<detail::graph_node*> nodes_;
  std::vector<std::string> names_;  // empty: none
  std::vector<order> orders_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;  // storage of the nodes, in the order of add()
  std::size_t chunk_left_ = 0;
  std::byte* chunk_next_ = nullptr;

  std::vector<detail::graph_node*> successors_;  // of all tasks, one after the other
  std::vector<detail::graph_node*> sources_;
  bool frozen_ = false;               // the two above are up to date, and there is no cycle
  std::uint32_t generation_ = 0;      // the number of clear() calls
  std::atomic<bool> running_{false};  // detects concurrent use, which is an error
  detail::completion unfinished_;
  std::atomic<bool> failed_{false};  // partners: the workers that start tasks
};

}  // namespace shoal
