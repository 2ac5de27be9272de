// SPDX-License-Identifier: Apache-2.0
// What the hang watch (hang_watch.hpp) asks of the nodes of a job, in this process and in others: whether anything can
// run, and what tasks wait for. Other processes are asked through machine/local_service.hpp.
// Who may call: the thread of the watch. Blocks it: up to 0.3 s for a pool, 2 s for each process. Never switches tasks.
// Test: tests/cluster/hang_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "machine/symbols.hpp"
#include "runtime/memory_answer.hpp"
#include "runtime/wait_report.hpp"
#include "sched/pool.hpp"

namespace shoal::runtime {

inline constexpr std::int64_t k_ask_ns = 2'000'000'000;  // for an answer of a process

struct watched_job {
  std::vector<sched::pool*> pools;  // of this process's nodes, from first_node on
  std::uint32_t first_node = 0;
  std::uint32_t nodes = 1;
  std::vector<int> processes;  // by node; 0: on another machine. Empty: all are in this process
  std::int64_t hang_ns = 0;
  std::function<memory_usage(std::size_t pool)> memory;  // of a node; empty: a pool without a job
  std::function<bool()> runs;                            // whether a main task runs
  std::function<bool()> may_end = [] { return false; };  // whether no thread can begin another one
};

/// What a node, or all of them, look like.
struct job_state {
  bool still = false;
  std::uint64_t version = 0;
  std::uint64_t outside = 0;
  bool starved = false;
  bool holds_back = false;
  bool whole = true;  // no node is unknown

  void add(const job_state& other) noexcept;
  std::string text() const;
  static std::optional<job_state> parse(const std::string& text);
};

/// `others`: jobs and pools of this process, whose tasks may wake tasks of this one.
job_state look_here(const watched_job& job, std::size_t others);
/// Of all processes; ends at the first that is not still, which `asked_first` is then. `id` names the job there.
job_state look_everywhere(const watched_job& job, const std::string& id, std::size_t others,
                          std::uint32_t& asked_first);

/// `cost_ns`: the time of the workers that it took, and of this thread, is added to it.
std::vector<node_waits> waits_here(const watched_job& job, machine::symbols& names, std::uint64_t* cost_ns = nullptr);
/// Of all nodes that can be asked; `missing` gets a line for each other.
std::vector<node_waits> waits_everywhere(const watched_job& job, const std::string& id, std::string& missing);

/// What the nodes of this process hold.
std::vector<node_memory> memory_here(const watched_job& job);

/// The socket of a process, for machine::ask().
std::string service_name(int process);

}  // namespace shoal::runtime
