// SPDX-License-Identifier: Apache-2.0
// A profile of the workers over a span of a program:
//   auto span = shoal::begin_profile();  ...  const shoal::profile p = span.end();  std::cerr << profile_table(p);
// Who may call: tasks; the span belongs to the task that began it, and ends before the main task does. Neither switches
// tasks. Spans may overlap, and the setting `profile` may be on besides. It covers the workers of this node.
// Costs: while any span is open a few nanoseconds for each task that is not run by its waiter; a thread that looks at
// the workers once an interval. Else nothing but a test of a pointer where a worker looks for work.
// What a worker counts within a task that began before the span did counts from its next task on.
// Shown by tests/unit/sched/profile_test.cpp.
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
  double interval_seconds = 0.005;  // between looks at what runs; 0: none
  /// So many values are kept; when there are more, two become one and the interval twice as long.
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

/// Of the workers that the calling task's is one of.
profile_span begin_profile(const profile_options& options = {});
/// For the library, from any thread.
profile_span begin_profile(sched::pool& pool, const profile_options& options);

}  // namespace shoal
