// SPDX-License-Identifier: Apache-2.0
// Waits until nothing is in flight in the whole job: operations of tasks and of handlers, and what these caused.
//   for (...) shoal::async_at(node, handler);   // handlers that call handlers, on any node
//   shoal::quiesce();                           // all of them have been executed
// Who may call: one task of the job at a time, not a handler. It switches tasks.
// Guarantees: async_ operations begun on any node before the call are complete when it returns, and so is everything that
// handlers executed because of them have begun, recursively, whatever the depth. Tasks that go on may begin more
// meanwhile; calls (on, async_on) are tasks, and it does not wait for their ends. Each worker must once be between two
// tasks, or in a wait. Cost: at least two rounds of a call of each node down a tree, each followed by a wait
// for what is in flight.
// Why two equal counts suffice: src/cluster/quiesce.cpp. Shown by tests/cluster/handler_test.cpp.
#pragma once

namespace shoal {

void quiesce();

}  // namespace shoal
