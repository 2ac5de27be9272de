// SPDX-License-Identifier: Apache-2.0
// A profile of the workers during a span of a program:
//   auto span = shoal::begin_profile();  ...  const shoal::profile p = span.end();  std::cerr << profile_table(p);
// Who may call: tasks; a span belongs to the task that began it, and ends before the main task ends. Neither call
// switches tasks. Spans may overlap, and the setting `profile` may be on at the same time. A span covers the workers of
// this node.
// Costs: while a span is open, a few nanoseconds for each task that its waiter does not run inline, and a thread that
// samples the workers once per interval. Otherwise one test of a pointer where a worker looks for work.
// A worker that runs a task when the span begins is counted from its next task on.
// Tests: tests/unit/sched/profile_test.cpp.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "shoal/profile_result.hpp"

namespace shoal {

namespace sched {
class profile_span_state;
class pool;
}  // namespace sched

struct profile_options {
  double interval_seconds = 0.005;  // between samples; 0: no samples
  /// The number of samples to keep. When there are more, pairs are merged and the interval doubles.
  std::size_t most_samples = 4096;
  std::optional<double> serial_seconds;  // more than 0; see profile
};

class profile_span {
public:
  profile_span(profile_span&&) noexcept;
  profile_span& operator=(profile_span&&) noexcept;
  ~profile_span();

  /// Once.
  profile end();

private:
  friend profile_span begin_profile(sched::pool& pool, const profile_options& options);
  explicit profile_span(std::unique_ptr<sched::profile_span_state> state) noexcept;
  std::unique_ptr<sched::profile_span_state> state_;
};

/// Starts a profile of the workers of the calling task's pool or node.
profile_span begin_profile(const profile_options& options = {});
/// For the library, from any thread.
profile_span begin_profile(sched::pool& pool, const profile_options& options);

}  // namespace shoal
