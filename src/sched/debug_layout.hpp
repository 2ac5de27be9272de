// SPDX-License-Identifier: Apache-2.0
// Where a debugger finds the tasks of a process: offsets of members, by name, and of the thread-local current worker.
// With it tools/gdb/shoal_tasks.py needs no debug information of this library, only its symbols. A worker leads to its
// pool, and a pool to its workers and their stacks, so no list of pools exists.
// Who may call: note_moment() a pool that is made; programs that have pools so contain both objects.
// Guarantees: constant. The script refuses a version that it does not know; names may be added without a new one.
// Tests: tests/unit/sched/debug_layout_test.cpp, tests/gdb/.
#pragma once

#include <array>
#include <cstdint>

namespace shoal::machine {
class executor;
}  // namespace shoal::machine

namespace shoal::sched {

struct debug_entry {
  std::array<char, 32> name;  // ends with zeros
  std::uint64_t value;
};

/// One moment by two clocks, from which a debugger learns the rate of one and how long tasks have waited.
struct debug_moment {
  std::uint64_t ns;     // 0: the executor's time is not that of the machine
  std::uint64_t ticks;  // of base::rough_time
};
debug_moment note_moment(machine::executor& by) noexcept;

/// Of the table. Raise it when a name goes, or means something else.
inline constexpr std::uint64_t k_debug_version = 1;
inline constexpr std::size_t k_debug_entries = 128;

}  // namespace shoal::sched

extern "C" {
/// The first is the version; behind the last is one without a name.
[[gnu::visibility("default")]] extern const std::array<shoal::sched::debug_entry, shoal::sched::k_debug_entries>
    shoal_debug_layout;
#if defined(__x86_64__)
/// Where a thread has its detail::t_worker, from its thread pointer (fs_base). A core file has no other way to say so.
/// Debuggers do not call it but read it.
[[gnu::visibility("default")]] std::int64_t shoal_debug_worker_offset() noexcept;
#endif
}
