// SPDX-License-Identifier: Apache-2.0
// A graph of tasks with an explicit order, built once and run repeatedly.
//   shoal::task_graph g;  auto a = g.add(f);  auto b = g.add(h);  a.precedes(b);  g.run();
// Who may call: one task at a time, but no task of the graph; all but run() also any thread before a pool exists. run()
// switches tasks. Guarantees: a task starts when all its predecessors have ended, and sees their effects. Of the tasks
// that become ready at the end of a task, the same worker runs one directly; thieves may take the others. If a task
// throws, tasks that have not begun are dropped, and run() rethrows the first exception. Bodies may wait. A time limit is
// stop_scope s(limit);  g.run(s);  s.timed_out(). There is no run_for(): tasks that run must learn of the limit, too.
// Errors: run() throws shoal::error with the names of the tasks, and starts none, if tasks precede each other in a
// cycle; also if a condition returns no valid choice, or two paths begin a task at the same time.
// Costs of a run: per task a call and an atomic decrement per successor; no allocation, no lock. Priorities, uses and
// conditions make the tasks of their graph dearer by some nanoseconds.
// Shown by tests/unit/sched/task_graph_test.cpp and graph_*_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/detail/scope.hpp"
#include "shoal/detail/worker.hpp"
#include "shoal/priority.hpp"
#include "shoal/task.hpp"

namespace shoal {

class stop_scope;
class task_graph;

namespace detail {

/// What takes a graph and adds tasks to it.
template <class F>
concept graph_filler = !task_body<F> && std::is_invocable_v<std::decay_t<F>&, task_graph&>;
/// What returns an index: an integer, a bool or an enumerator.
template <class F>
concept condition_body = task_body<F> &&(std::is_integral_v<std::invoke_result_t<std::decay_t<F>&>> ||
                                         std::is_enum_v<std::invoke_result_t<std::decay_t<F>&>>);

struct graph_terms;

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

struct condition_node : graph_node {
  std::int64_t chosen = 0;
};

}  // namespace detail

class task_graph {
public:
  /// A condition returns it to choose nothing.
  static constexpr int k_none = -1;

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
    /// Among tasks that can begin, those of higher priority begin first (see priority.hpp).
    void set_priority(priority p) const { owner().set_rank(*this, p); }
    /// Tasks of this graph that use the same object do not run at the same time. The order is open. Only the addresses
    /// of the objects matter; a task whose objects are in use waits without a stack.
    template <class... Objects>
    void uses(Objects&... objects) const {
      (owner().add_use(*this, std::addressof(objects)), ...);
    }
    /// In the order of add(), from 0.
    std::size_t number() const noexcept { return owner(), number_; }

  protected:
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

  /// A handle of a condition.
  class condition : public handle {
  public:
    condition() = default;
    /// Adds tasks to those that it chooses from. The first one that was ever added has index 0.
    template <class... Handles>
    void chooses(Handles... next) const {
      (owner().add_choice(*this, next), ...);
    }

  private:
    friend class task_graph;
    using handle::handle;
  };

  task_graph();
  task_graph(const task_graph&) = delete;
  task_graph& operator=(const task_graph&) = delete;
  ~task_graph();

  /// Adds a task; each run calls `f` once. The name is for messages.
  template <detail::task_body F>
  handle add(F&& f) {
    return add(std::string_view(), std::forward<F>(f));
  }
  template <detail::task_body F>
  handle add(std::string_view name, F&& f) {
    return handle(*this, make<detail::graph_node>(name, std::forward<F>(f)).number);
  }

  /// Adds a task whose body adds further tasks for this run, to the graph that it is given, which is empty:
  ///   g.add([](shoal::task_graph& part) { part.add(f);  part.add(h); });
  /// They run after the body, and end before the task does.
  template <detail::graph_filler F>
  handle add(F&& f) {
    return add(std::string_view(), std::forward<F>(f));
  }
  template <detail::graph_filler F>
  handle add(std::string_view name, F&& f) {
    return add(name, [this, fill = std::decay_t<F>(std::forward<F>(f)),
                      part = std::make_unique<task_graph>()]() mutable { part->fill_and_run(*this, fill); });
  }

  /// Adds a task that runs `module`, which must live as long and be in one place of one graph at a time.
  handle add(task_graph& module) { return add(std::string_view(), module); }
  handle add(std::string_view name, task_graph& module) {
    return add(name, [this, &module] { module.run_in(*this); });
  }

  /// Adds a task whose result, an integer, bool or enumerator, is the index of the task that begins next:
  ///   auto again = g.add_condition([&] { return error > 1e-6 ? 0 : 1; });  again.chooses(step, finish);
  /// A chosen task begins at once, whether its predecessors have ended or not. So choices may form loops; the ends of
  /// its predecessors are counted anew each time they have all ended. A task that some condition can choose does not
  /// begin by itself. The run ends when no task runs or can begin. k_none chooses nothing; any other index without a
  /// task is an error.
  template <detail::condition_body F>
  condition add_condition(F&& f) {
    return add_condition(std::string_view(), std::forward<F>(f));
  }
  template <detail::condition_body F>
  condition add_condition(std::string_view name, F&& f) {
    return condition(*this, make<detail::condition_node>(name, std::forward<F>(f)).number);
  }

  /// Runs every task once, in the order given; where there are conditions, those that they choose. Returns when all
  /// have ended. May switch. The tasks belong to the stop scope of the caller (see stop_scope.hpp), and run in any case.
  void run() { run_whole(nullptr); }
  /// The same; once a stop is requested of `s`, to which the tasks belong, those that have not begun are dropped.
  void run(const stop_scope& s);
  /// The same with the scope of the calling task.
  void run(in_scope_t) { run_whole(detail::worker_here().scope); }

  std::size_t size() const noexcept { return nodes_.size(); }
  /// Removes all tasks; their handles become invalid.
  void clear() noexcept;

private:
  template <class F, class Node>
  struct node_of final : Node {
    template <class G>
    node_of(std::in_place_t, G&& f) : body(std::forward<G>(f)) {
      this->call = [](detail::graph_node& n) {
        auto& self = static_cast<node_of&>(n);
        if constexpr (std::is_same_v<Node, detail::condition_node>)
          self.chosen = static_cast<std::int64_t>(self.body());
        else
          self.body();
      };
      if constexpr (!std::is_trivially_destructible_v<F>)
        this->destroy = [](detail::graph_node& n) noexcept { static_cast<node_of&>(n).body.~F(); };
    }
    F body;
  };

  template <class Node, class F>
  detail::graph_node& make(std::string_view name, F&& f) {
    using node = node_of<std::decay_t<F>, Node>;
    node* const made = ::new (place_for(sizeof(node), alignof(node))) node(std::in_place, std::forward<F>(f));
    if constexpr (std::is_same_v<Node, detail::condition_node>)
      adopt_condition(*made, name);
    else
      adopt(*made, name);
    return *made;
  }

  template <class F>
  void fill_and_run(task_graph& whole, F& fill) {
    struct emptied {
      task_graph& part;
      ~emptied() {
        part.filling_ = false;
        part.clear();
      }
    } const end{*this};
    filling_ = true;
    fill(*this);
    filling_ = false;
    run_in(whole);
  }

  struct order {
    std::uint32_t earlier;
    std::uint32_t later;
  };

  void* place_for(std::size_t bytes, std::size_t alignment);
  void adopt(detail::graph_node& n, std::string_view name);
  void adopt_condition(detail::condition_node& n, std::string_view name);
  void add_order(const handle& earlier, const handle& later);
  void add_use(const handle& of, const void* object);
  void add_choice(const handle& from, const handle& next);
  void set_rank(const handle& of, priority p);
  detail::graph_terms& terms_to_declare(const handle& of, const char* what);
  [[noreturn]] static void refuse(const char* what);
  void require_rest(const char* what) const;
  void freeze();
  void freeze_terms();
  [[noreturn]] void report_cycle(const std::vector<std::int32_t>& left) const;
  std::string title(std::uint32_t number) const;
  void run_whole(const detail::scope* given);
  void run_in(task_graph& whole, const detail::scope* given = nullptr);
  // Of a root: whether tasks that have not begun are dropped.
  bool drops() const noexcept {
    // Relaxed: who must not begin has this from the task's end.
    return failed_.load(std::memory_order_relaxed) || (given_scope_ != nullptr && given_scope_->stop_requested());
  }
  void begin_all(detail::worker_base& w) noexcept;
  void help(detail::worker_base& w) noexcept;
  void fail(std::exception_ptr e) noexcept;
  static void run_from_loop(detail::task& t) noexcept;
  std::int64_t run_strand(detail::graph_node* n) noexcept;

  // The same for graphs with terms:
  class strand_on_terms;
  void reset_terms() noexcept;
  void begin_on_terms(detail::worker_base& w) noexcept;
  void help_on_terms(detail::worker_base& w) noexcept;
  static void run_on_terms(detail::task& t) noexcept;
  void fail_as(const std::string& why) noexcept;
  void fail_choice(const detail::graph_node& n, std::uint32_t choices, std::int64_t chosen) noexcept;
  void fail_twice(const detail::graph_node& n) noexcept;

  std::vector<detail::graph_node*> nodes_;
  std::vector<std::string> names_;  // empty: none
  std::vector<order> orders_;
  std::vector<std::unique_ptr<std::byte[]>> chunks_;  // storage of the nodes, in the order of add()
  std::size_t first_chunk_bytes_ = 0;
  std::size_t chunk_left_ = 0;
  std::byte* chunk_next_ = nullptr;

  std::vector<detail::graph_node*> successors_;  // of all tasks, one after the other
  std::vector<detail::graph_node*> sources_;
  std::unique_ptr<detail::graph_terms> terms_;  // if there are priorities, uses or conditions
  bool frozen_ = false;                         // the three above are up to date, and there is no cycle
  bool filling_ = false;                        // a part, until it runs
  std::uint32_t generation_ = 0;                // the number of clear() calls
  std::atomic<bool> running_{false};            // detects concurrent use, which is an error
  task_graph* root_ = this;                     // of which it is a part in this run: its failure is that one's
  detail::completion unfinished_;
  std::atomic<bool> failed_{false};  // partners: the workers that start tasks
  // Of a root, constant while it runs:
  const detail::scope* scope_ = nullptr;        // of the tasks
  const detail::scope* given_scope_ = nullptr;  // the same, if the run stops with it
};

}  // namespace shoal
