// SPDX-License-Identifier: Apache-2.0
// The work of `shoal bench access`: its tasks, their operations, and the check of the result.
// Who may call: the main task. Switches tasks.
#pragma once

#include <cstdint>
#include <string>

#include "shoal/array.hpp"
#include "shoal/detail/line_cache.hpp"

namespace shoal::bench {

enum class access_op : std::uint8_t { add, put, get, cas, gather, cached };
enum class access_mode : std::uint8_t { async, blocking };
enum class access_pattern : std::uint8_t { remote, skewed, uniform, hotspot, local };

struct access_plan {
  access_op op = access_op::add;
  access_mode mode = access_mode::async;
  access_pattern pattern = access_pattern::remote;
  std::uint64_t tasks_per_node = 16;
  std::uint64_t operations_per_task = 1;
  std::uint32_t bytes = 8;  // per operation; more than 8: put and get only
};

/// A table of 64-bit words distributed over all nodes.
class access_table {
public:
  access_table(std::uint64_t bytes, std::uint32_t bytes_per_operation);

  /// Runs the plan; returns the time in seconds.
  double run(const access_plan& plan);
  /// Of the last run, if it was one of reads through a cache.
  const read_cache_counts& cache_counts() const noexcept { return cache_counts_; }
  /// Describes an error in the result of the runs so far; empty if there is none.
  std::string check(const access_plan& plan);
  /// Restores the initial state of a plan's runs.
  void reset(const access_plan& plan);

  const memory_report& memory() const noexcept { return words_.memory(); }

private:
  std::uint64_t items_per_node_;  // a power of two: possible targets
  std::uint64_t words_per_item_;
  global_array<std::uint64_t> words_;
  global_array<std::uint64_t> tally_;  // one per node: the counts of its tasks
  read_cache_counts cache_counts_;
  std::uint64_t operations_ = 0;
  std::uint64_t seed_ = 1;
};

}  // namespace shoal::bench
