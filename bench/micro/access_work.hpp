// SPDX-License-Identifier: Apache-2.0
// What `shoal bench access` measures: the tasks, what they do, and how the result is checked.
// Who may call: the main task. Switches tasks.
#pragma once

#include <cstdint>
#include <string>

#include "shoal/array.hpp"

namespace shoal::bench {

enum class access_op : std::uint8_t { add, put, get, cas };
enum class access_mode : std::uint8_t { async, blocking };
enum class access_pattern : std::uint8_t { remote, uniform, hotspot, local };

struct access_plan {
  access_op op = access_op::add;
  access_mode mode = access_mode::async;
  access_pattern pattern = access_pattern::remote;
  std::uint64_t tasks_per_node = 16;
  std::uint64_t operations_per_task = 1;
  std::uint32_t bytes = 8;  // per operation; more than 8: put and get only
};

/// A table of 64-bit words spread over all nodes.
class access_table {
public:
  access_table(std::uint64_t bytes, std::uint32_t bytes_per_operation);

  /// Runs the plan; the seconds it took.
  double run(const access_plan& plan);
  /// What is wrong with the result of the runs so far; empty if nothing.
  std::string check(const access_plan& plan);
  /// Brings the table to the state in which a plan's runs begin.
  void reset(const access_plan& plan);

  const memory_report& memory() const noexcept { return words_.memory(); }

private:
  std::uint64_t items_per_node_;  // a power of two: places that an operation may hit
  std::uint64_t words_per_item_;
  global_array<std::uint64_t> words_;
  global_array<std::uint64_t> tally_;  // one per node: what its tasks have counted
  std::uint64_t operations_ = 0;
  std::uint64_t seed_ = 1;
};

}  // namespace shoal::bench
