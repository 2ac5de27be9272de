// SPDX-License-Identifier: Apache-2.0
// Replies that have arrived from a node: each word goes to whoever is first in the list of those expected.
// Who may call: the worker whose requests they answer. Never switches tasks.
// Test: tests/unit/remote/worker_port_test.cpp, tests/cluster/array_test.cpp.
#pragma once

#include <cstdint>

#include "net/channel.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/port.hpp"
#include "trace/event_ring.hpp"

namespace shoal::remote {

struct reply_source {
  net::in_channel* channel = nullptr;
  std::uint32_t node = 0;
  std::uint64_t taken = 0;  // buffers, for the trace
};

/// True if there were any. `events`: of the worker; nullptr: no trace.
bool take_replies(sched::worker& w, detail::reply_list& list, reply_source& from, trace::event_ring* events) noexcept;

}  // namespace shoal::remote
