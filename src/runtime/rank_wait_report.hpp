// SPDX-License-Identifier: Apache-2.0
// The table of ranks of MPI that wait, which takes the place of that of tasks (wait_report.hpp) where there are any: the
// tasks of the runtime itself say nothing to whoever has written the program.
// Who may call: any thread that is no worker. Never switches tasks.
// Guarantees: ranks that wait for the same in the same call are one row. Test: tests/unit/runtime/wait_report_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sched/wait_survey.hpp"

namespace shoal::runtime {

struct rank_waits {
  std::vector<std::int64_t> ranks;  // ascending
  std::string call;                 // "MPI_Recv"
  std::string called_at;            // "ring.c:14 (main)"; empty: not known
  std::string waits_for;
  std::uint64_t waited_ns = 0;  // of the longest
};

/// The name of the place where the program has called.
using call_names = std::function<std::string(const void* called_from)>;
/// Of those tasks that are ranks.
std::vector<rank_waits> describe_ranks(std::span<const sched::waiting_task> tasks, const call_names& name);

/// The fields of one, for another process.
std::vector<std::string> fields_of(const rank_waits& one);
std::optional<rank_waits> parse_rank_waits(std::span<const std::string_view> fields);
inline constexpr std::size_t k_rank_fields = 5;

/// At most `most` rows, without a line feed at the end.
std::string rank_table(std::vector<rank_waits> all, std::size_t most);

}  // namespace shoal::runtime
