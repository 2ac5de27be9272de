// SPDX-License-Identifier: Apache-2.0
// What a debugger reads of the ranks of a process: where each one's stack goes on, and what it waits for. It is plain
// memory that describes itself, so that no debug information of this library is needed. Who reads it:
// tools/mpi-host/gdb/shoal_ranks.py.
// Who may call: begin() and end() the task of the rank; the rest whoever starts the ranks. Nothing here switches tasks.
// Shown by tests/cluster/mpi_tools_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "rank/rank.hpp"

namespace shoal::rank {

/// An entry of the table.
struct debugged_rank {
  enum class stage : std::int32_t { not_begun, begun, ended };
  std::int32_t world = 0;
  stage at = stage::not_begun;
  const void* fiber = nullptr;      // of its main()
  const void* stack_top = nullptr;  // above all frames of the program
  std::int64_t thread = 0;          // the kernel's number of its worker's
};

class debug_table {
public:
  debug_table(const job_ranks& of, std::size_t stack_bytes);
  ~debug_table();
  debug_table(const debug_table&) = delete;
  debug_table& operator=(const debug_table&) = delete;

  /// `frame`: of the function that calls main(), on the stack of main().
  void begin(const rank_state& r, const void* frame) noexcept;
  void end(const rank_state& r) noexcept;

private:
  std::unique_ptr<debugged_rank[]> ranks_;
};

}  // namespace shoal::rank

extern "C" {
/// Words for the debugger: a version, how many ranks, and where everything is. The script has their order.
[[gnu::visibility("default")]] extern std::uint64_t shoal_debug_ranks[16];
}
