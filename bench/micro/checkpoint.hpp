// SPDX-License-Identifier: Apache-2.0
// `shoal bench checkpoint`: what a checkpoint takes, and what plain sequential writing of as many bytes to the same disk
// takes, alternately; how long an asynchronous one holds the program up.
// Who may call: the command's main thread. Guarantees: restores the last checkpoint and checks every element.
// Test: tests/cluster/checkpoint_test.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "bench/subcommand.hpp"

namespace shoal::bench {

struct checkpoint_time {
  double plain_s = 0;  // one thread writes a file, and has it on the disk
  double save_s = 0;
  double pause_s = 0;  // until async_save() has returned
  double async_s = 0;  // until what it wrote is on the disk
  bool right = false;
};

/// Called by the main task of a job. `folder` exists; it gets a folder of its own that is removed afterwards.
checkpoint_time measure_checkpoint(const std::string& folder, std::uint64_t bytes);

subcommand_body declare_checkpoint(CLI::App& app);

}  // namespace shoal::bench
