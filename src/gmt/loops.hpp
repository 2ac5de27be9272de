// SPDX-License-Identifier: Apache-2.0
// What the loops of gmt.h are made of: shares of nodes, and the tasks of a share.
// Who may call: tasks. run() switches; begin() and begin_with_handle() when buffers are full.
// Guarantees: a share is one message; task k of a share has the iterations that follow those of task k - 1.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gmt/gmt.h"
#include "remote/code.hpp"
#include "shoal/detail/loop_shares.hpp"

namespace shoal::gmt {

inline constexpr std::size_t k_most_argument_bytes = 11 << 10;

struct loop_request {
  const char* name = nullptr;  // of the function that was called
  detail::loop_shares shares;
  bool in_tasks = false;  // shares count tasks, not iterations (GMT_SPAWN_SPREAD)
  remote::plain_function code = nullptr;
  gmt_data_t array = GMT_DATA_NULL;  // of gmt_for_each; else GMT_DATA_NULL
  std::uint64_t iterations = 0;      // of the whole loop
  std::uint64_t per_task = 0;        // 0: chosen
  const void* arguments = nullptr;
  std::size_t argument_bytes = 0;
};

/// Waits for all tasks; throws the first exception of one.
void run(loop_request& r);
/// The calling task waits for them later.
void begin(loop_request& r);
void begin_with_handle(loop_request& r, gmt_handle_t handle);

}  // namespace shoal::gmt
