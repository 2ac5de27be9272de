// SPDX-License-Identifier: Apache-2.0
// What the nodes of the job have sent to each other, by the reasons for which buffers left and by hops, for reports.
// Who may call: the main task. traffic_so_far() calls all nodes: it waits, takes time of O(nodes), and is itself counted
// with a buffer or two for each node.
// Shown by tests/cluster/routes_test.cpp.
#pragma once

#include <cstdint>

#include "bench/report.hpp"

namespace shoal::bench {

/// Sums over all nodes since the start of the job.
struct traffic_counts {
  // Buffers of workers, by the reason for which they left. Over routes these are blocks.
  std::uint64_t full = 0, old = 0, idle = 0, asked = 0;
  // Commands that were executed for other nodes, and the buffers with them.
  std::uint64_t commands = 0, served = 0;
  // Over routes: blocks on their first hop and on further ones, and the buffers that carried them.
  std::uint64_t first_hops = 0, further_hops = 0, shared_buffers = 0;
};

traffic_counts traffic_so_far();

/// Records what has been sent between the two: commands_per_buffer, buffers_sent, flush_full, flush_old, flush_idle,
/// flush_asked, and over routes blocks_first_hop, blocks_further_hops, shared_buffers.
void record_traffic(report& r, const traffic_counts& before, const traffic_counts& after);

}  // namespace shoal::bench
