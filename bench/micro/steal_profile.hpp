// SPDX-License-Identifier: Apache-2.0
// `shoal bench steal-profile`: where the time of a stealing scheduler goes, by victim policy and number of workers: an
// unbalanced tree of small tasks, with the profile of its workers as shares of their time (after the profile of a task
// library in the study of stealing that knows the machine).
// Test: tests/unit/bench/steal_profile_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/subcommand.hpp"
#include "shoal/profile_result.hpp"

namespace shoal::bench {

subcommand_body declare_steal_profile(CLI::App& app);

/// The number of nodes of the tree below and with the node `name` at `depth`; a leaf at `most`.
std::uint64_t count_tree(std::uint64_t name, unsigned depth, unsigned most) noexcept;
/// The same by tasks of the calling task, with `spin_ns` of work in each node.
std::uint64_t count_tree_by_tasks(std::uint64_t name, unsigned depth, unsigned most, double spin_ticks);

struct steal_row {
  std::string policy;
  unsigned workers = 0;
  double seconds = 0;  // median
  profile_worker sum;  // of all repetitions
};
/// A worker that got nothing to do may have no part in a profile, or a part of it only: what is missing to the time of
/// all `workers`, it has waited.
void count_absent(steal_row& row, double wall_seconds);
/// Shares of the workers' time.
std::string steal_table(const std::vector<steal_row>& rows);
std::string steal_picture(const std::vector<steal_row>& rows);

}  // namespace shoal::bench
