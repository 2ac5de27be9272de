// SPDX-License-Identifier: Apache-2.0
// A named part of a program in its trace (`shoal trace`), from the constructor to the destructor:
//   { shoal::region_mark phase("build"); ... }
//   shoal::trace_mark("step", i);   // a moment, with a number
//   shoal::name_task("block 7");     // instead of the name of its code
// Who may call: tasks. A region belongs to the worker where it began; the task may wait inside. Regions may be nested.
// Costs: without a trace a test of a pointer; with one a lookup of the name (a mutex) and an event. Never switches tasks.
// Elsewhere than in a task, and without a trace, it does nothing.
// Tests: tests/cluster/trace_test.cpp.
#pragma once

#include <cstdint>
#include <string_view>

namespace shoal {

class region_mark {
public:
  /// `name` is copied into the trace, at most 1000 characters.
  explicit region_mark(std::string_view name) noexcept;
  ~region_mark();
  region_mark(const region_mark&) = delete;
  region_mark& operator=(const region_mark&) = delete;

private:
  std::uint32_t number_;  // of the name; 0: there is no trace
};

void trace_mark(std::string_view name, std::uint64_t value = 0) noexcept;

/// The running task has this name in the trace from now on, instead of that of its code.
void name_task(std::string_view name) noexcept;
/// Whether there is a trace: for names that take time to make.
bool is_traced() noexcept;

}  // namespace shoal
