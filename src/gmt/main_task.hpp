// SPDX-License-Identifier: Apache-2.0
// The main task of a program of gmt.h. Who may call: the main task of a job, on node 0. Switches tasks.
// Guarantees: when it returns, what the main task has begun is complete, and arrays that are to be kept are written.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <functional>

namespace shoal::gmt {

/// Returns what the main task returns; throws what it throws, and shoal::error if arrays cannot be written.
int run_main_task(const std::function<int()>& main_task);

}  // namespace shoal::gmt
