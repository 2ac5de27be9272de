// SPDX-License-Identifier: Apache-2.0
// The ranks of a node, where messages of other nodes find them.
#pragma once

#include <memory>

#include "rank/rank.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::rank {

struct node_ranks final : detail::node_extension {
  std::unique_ptr<job_ranks> ranks;
};

/// Of the node that a message has come to.
inline job_ranks& ranks_of(const detail::worker_base& w) noexcept {
  return *static_cast<node_ranks*>(w.port->context->above.load(std::memory_order_acquire))->ranks;
}

}  // namespace shoal::rank
