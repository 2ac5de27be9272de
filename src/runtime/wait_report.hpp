// SPDX-License-Identifier: Apache-2.0
// The table of tasks that wait: made of surveys of the nodes' workers, sent between processes as text, printed.
// Who may call: any thread that is no worker; describe_waits() does not block it. Never switches tasks.
// Guarantees: tasks that wait for the same at the same place are one row; at most k_most_rows rows are sent or printed.
// parse_waits() of arbitrary text gives nothing or rows. Test: tests/unit/runtime/wait_report_test.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/symbols.hpp"
#include "runtime/rank_wait_report.hpp"
#include "sched/wait_survey.hpp"

namespace shoal::runtime {

struct wait_row {
  std::uint32_t node = 0;
  std::uint64_t tasks = 1;
  std::string task;
  std::string spawned_in;
  std::string waits_for;
  std::string held_by;          // empty: nobody in particular
  std::uint64_t waited_ns = 0;  // of the longest
};

struct node_waits {
  std::uint32_t node = 0;
  unsigned workers = 0;
  unsigned silent = 0;        // workers that did not answer: each runs one task for long
  std::uint64_t waiting = 0;  // tasks, in the rows or not
  std::vector<wait_row> rows;
  std::vector<rank_waits> ranks;    // if it has any, the runtime's own tasks are in no row
  std::vector<std::string> cycles;  // of tasks that wait for each other, at most k_most_cycles
};

inline constexpr std::size_t k_most_rows = 200;
inline constexpr std::size_t k_most_cycles = 8;

/// `still`: nothing on the node can run, so a holder that does not wait has ended.
node_waits describe_waits(std::uint32_t node, unsigned workers, sched::wait_survey found, machine::symbols& names,
                          bool still = false);

/// How many ranks of MPI the rows are about.
std::uint64_t ranks_of(std::span<const node_waits> nodes);

/// For another process. A line per node and per row.
std::string to_text(std::span<const node_waits> nodes);
std::optional<std::vector<node_waits>> parse_waits(std::string_view text);

/// The table, without a line feed at its end; at most `most` rows, the longest waits first.
std::string table_of(std::span<const node_waits> nodes, std::size_t most = k_most_rows);

}  // namespace shoal::runtime
