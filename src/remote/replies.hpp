// SPDX-License-Identifier: Apache-2.0
// Replies that have arrived from a node: each word goes to whoever is first in the list of those expected.
// Who may call: the worker whose requests they answer. Never switches tasks.
// Test: tests/unit/remote/worker_port_test.cpp, tests/cluster/array_test.cpp.
#pragma once

#include "net/channel.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::remote {

/// True if there were any.
bool take_replies(sched::worker& w, detail::reply_list& list, net::in_channel& from) noexcept;

}  // namespace shoal::remote
