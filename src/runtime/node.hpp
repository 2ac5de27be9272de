// SPDX-License-Identifier: Apache-2.0
// One node of a job: its part of the global memory, its workers and their communication.
// Who may call: the constructing thread. Either run_main() or serve(), which block it and make it worker 0; or start(),
// which starts all workers as threads, and finish().
// Guarantees: several nodes can exist in one process. Nothing outlives the object. Tests: tests/cluster/.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "array/memory_survey.hpp"
#include "array/node_memory.hpp"
#include "cluster/loop_stops.hpp"
#include "cluster/node_promises.hpp"
#include "cluster/team.hpp"
#include "cluster/work_moves.hpp"
#include "machine/segment.hpp"
#include "net/ring_world.hpp"
#include "remote/request_threads.hpp"
#include "remote/worker_port.hpp"
#include "runtime/config.hpp"
#include "runtime/submissions.hpp"
#include "sched/pool.hpp"
#include "shoal/profile.hpp"

namespace shoal::runtime {

struct node_parts {
  std::uint32_t node = 0;
  std::uint32_t nodes = 1;
  std::uint32_t nodes_on_machine = 0;  // that share this machine's memory; 0: all
  const config* settings = nullptr;
  std::vector<int> processors;            // of the workers; -1: not pinned
  unsigned processors_for_it = 0;         // its share of this machine's
  std::vector<machine::processor> where;  // the same for distances; empty: not known
  std::vector<int> processes;             // by node; 0: on another machine. Empty: all nodes are in this process
  std::unique_ptr<net::transport> transport;
  machine::segment* segment = nullptr;  // mapped
  std::vector<std::byte*> bases;        // by node; null where only messages reach
};

class node {
public:
  explicit node(node_parts parts);
  ~node() { delete context_.above.load(std::memory_order_acquire); }
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  /// Node 0: runs the main task, then tells the others to stop. Rethrows the task's exception.
  int run_main(const std::function<int()>& main_task);
  /// The others: serves until node 0 sends stop.
  void serve();
  /// Starts the workers on threads of their own. Node 0 then takes main tasks (main_tasks()); the others serve.
  void start();
  /// After start(). Node 0: waits for the main tasks, then tells the other nodes to stop. The others: waits until node
  /// 0 sends stop. Ends the workers. Blocks.
  void finish();
  submissions& main_tasks() noexcept { return main_tasks_; }
  /// Prints and writes the profile of its workers, if one was wanted, after the node has ended. Throws where a file
  /// cannot be written.
  void report_profile() const;

  /// Whether it has done its part, and the others know or need not: its end is no loss to them.
  bool has_finished() const noexcept { return finished_; }

  /// Describes the requests that a node has not answered yet. Any thread.
  std::string outstanding(std::uint32_t of) const { return transport_->outstanding(of); }
  std::uint32_t number() const noexcept { return node_; }
  std::uint32_t count() const noexcept { return nodes_; }
  const std::vector<int>& processes() const noexcept { return processes_; }
  std::int64_t hang_ns() const noexcept { return hang_ns_; }
  /// Whether a main task runs here, or detached work that the end of the job waits for. Any thread.
  bool runs_main() noexcept {
    return in_run_.load(std::memory_order_acquire) || main_tasks_.any() || pool_.has_detached();
  }
  /// Whether it is the only main task that there will be: run_main()'s. Any thread.
  bool runs_only_main() const noexcept { return in_run_.load(std::memory_order_acquire); }
  sched::pool& workers() noexcept { return pool_; }
  /// Any thread.
  memory_usage memory() { return array::survey(pool_, &memory_, &ports_, memory_.options().first_of_process); }
  remote::node_ports& ports() noexcept { return ports_; }

private:
  void stop_others();
  void wait_for_stop();
  void begin_profile();
  void end_messages() noexcept;
  void end_profile() noexcept;

  const std::uint32_t node_;
  std::uint32_t nodes_;
  const profile_wish wish_;
  profile_files profile_files_;
  bool finished_ = false;
  const std::vector<int> processes_;
  const std::int64_t hang_ns_;
  std::atomic<bool> in_run_{false};  // partner: the watch
  std::unique_ptr<net::transport> transport_;
  array::node_memory memory_;
  cluster::node_teams teams_;
  cluster::loop_stops stops_;
  cluster::node_promises promises_;
  const collectives::algorithm_table algorithms_;
  detail::node_context context_;
  remote::node_ports ports_;
  sched::pool pool_;
  cluster::work_moves moves_;
  submissions main_tasks_{pool_, "the job is ending and takes no more main tasks; run them before end()"};
  submissions own_tasks_{pool_, "the node is ending"};  // of finish() and of nodes that serve
  std::optional<remote::request_threads> helpers_;
  std::optional<trace_recording> tracing_;
  std::optional<profile_span> profiling_;
  std::optional<profile> profile_;  // once it has ended
};

}  // namespace shoal::runtime
