// SPDX-License-Identifier: Apache-2.0
// A timeline for people and for other programs: a summary as text; a page for a browser; JSON for Perfetto and Chrome
// (chrome://tracing); the three files of Paraver.
// Who may call: any thread. Never switches tasks; nothing is written: callers do. Test:
// tests/unit/trace/timeline_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline.hpp"

namespace shoal::trace {

/// How long all workers together did what.
struct timeline_times {
  std::array<double, k_activities> ns{};  // by activity
  double sum() const noexcept;
};
timeline_times times_of(const timeline& t);

struct task_row {
  std::uint32_t name = 0;
  std::uint64_t slices = 0;
  std::uint64_t ns = 0;
  std::uint64_t longest_ns = 0;
};
/// Those with the most time first.
std::vector<task_row> task_rows(const timeline& t);

/// How many workers ran tasks in each of `buckets` equal parts of the time, on average.
std::vector<double> parallelism(const timeline& t, std::size_t buckets);

/// Bytes from node to node, row by row.
std::vector<std::uint64_t> message_matrix(const timeline& t);

std::string timeline_text(const timeline& t);
std::string timeline_page(const timeline& t);
std::string timeline_json(const timeline& t);

struct paraver_files {
  std::string prv;
  std::string pcf;
  std::string row;
};
/// `date`: "dd/mm/yyyy at hh:mm".
paraver_files timeline_paraver(const timeline& t, const std::string& date);

}  // namespace shoal::trace
