// SPDX-License-Identifier: Apache-2.0
// `shoal bench priorities`: what priorities are good for, in three experiments.
//   balance     a chain of tasks that follow each other, beside many short tasks that each worker begins: with a high
//               priority the chain does not wait behind them, and its result is there earlier
//   background  a foreground that computes in steps beside tasks that nobody waits for: of background priority they
//               take idle time only
//   groups      groups of workers with unequal work, balanced by priorities or by moving processors, see
//               priorities_groups.hpp
// After the uses of hardware thread priorities in the literature. Test: tests/unit/bench/priorities_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"
#include "shoal/priority.hpp"

namespace shoal::bench {

subcommand_body declare_priorities(CLI::App& app);

struct balance_request {
  unsigned workers = 2;
  unsigned links = 200;  // of the chain
  double link_us = 50;
  unsigned tasks = 2000;  // beside it
  double task_us = 20;
};
struct balance_result {
  double seconds = 0;        // until all have ended
  double chain_seconds = 0;  // until the last link has
  std::uint64_t done = 0;    // tasks and links that ran
};
balance_result run_balance(const balance_request& r, priority of_chain);

struct background_request {
  unsigned workers = 2;
  unsigned steps = 100;
  unsigned tasks = 8;  // of each step
  double task_us = 50;
  double background_us = 200;  // of a task that nobody waits for
};
struct background_result {
  double seconds = 0;            // of the foreground
  std::uint64_t foreground = 0;  // tasks
  std::uint64_t background = 0;  // tasks that have run meanwhile
};
/// `has_background`: false: none. There are always enough of them.
background_result run_background(const background_request& r, bool has_background, priority of_background);

/// A result as a bar: a coloured part, and a grey one up to `until_ms`.
struct priorities_bar {
  std::string name;
  double ms = 0;
  double until_ms = 0;
};
struct priorities_panel {
  std::string title;
  std::vector<priorities_bar> bars;
  double ideal_ms = 0;  // a line; 0: none
};
std::string priorities_picture(const std::vector<priorities_panel>& panels);

/// A treatment of unequal groups; medians.
struct groups_row {
  std::string name;
  double ms = 0;         // of a step
  double first_ms = 0;   // that the first group computes
  double others_ms = 0;  // the others, on average
  double moved = 0;      // workers that got other processors, for each step
};
std::string groups_table(const std::vector<groups_row>& rows, double ideal_ms);

}  // namespace shoal::bench
