// SPDX-License-Identifier: Apache-2.0
// The number of tasks that ran, and that were in deques, at regular times, in bounded memory: when it is full, pairs of
// values become their mean, and the interval doubles.
// Who may call: one thread at a time. Guarantees: value i was sampled at about (i + 1) * interval; a late caller's
// value is used for all intervals that it missed. No value stands for time after it was sampled.
// Tests: tests/unit/sched/parallelism_series_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::sched {

class parallelism_series {
public:
  parallelism_series(double interval_seconds, std::size_t most);

  /// From the beginning to the next value.
  double seconds_to_next() const noexcept { return interval_ * static_cast<double>(running_.size() + 1); }
  /// What was found so long after the beginning.
  void add(double at_seconds, std::uint32_t running, std::uint32_t offered);

  double interval_seconds() const noexcept { return interval_; }
  const std::vector<std::uint32_t>& running() const noexcept { return running_; }
  const std::vector<std::uint32_t>& offered() const noexcept { return offered_; }

private:
  void halve();

  double interval_;
  std::size_t most_;
  std::vector<std::uint32_t> running_;
  std::vector<std::uint32_t> offered_;
};

}  // namespace shoal::sched
