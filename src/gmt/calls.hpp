// SPDX-License-Identifier: Apache-2.0
// What the calls of gmt.h (gmt_execute_...) are made of.
// Who may call: tasks. run() switches; the others when buffers are full, or if the task has begun very many calls.
// Guarantees: what the function returns is at its place before the call counts as ended.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <cstdint>

#include "gmt/gmt.h"
#include "gmt/task_state.hpp"

namespace shoal::gmt {

struct call_request {
  const char* name = nullptr;  // of the function that was called
  std::uint32_t node = 0;
  gmt_execute_func_t code = nullptr;
  const void* arguments = nullptr;
  std::uint32_t argument_bytes = 0;
  return_place returned;
  preempt_policy_t policy = GMT_PREEMPTABLE;
};

void run(const call_request& r);
void begin(const call_request& r);
void begin_with_handle(const call_request& r, gmt_handle_t handle);
/// The three on every node, without what they return.
void run_on_all(call_request r);
void begin_on_all(call_request r);
void begin_on_all_with_handle(call_request r, gmt_handle_t handle);
/// Whether the node has room for this call among those that have not begun there.
bool has_room(const call_request& r);

}  // namespace shoal::gmt
