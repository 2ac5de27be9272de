// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic.hpp"

#include "net/channel.hpp"
#include "remote/worker_port.hpp"
#include "sched/worker.hpp"
#include "shoal/on.hpp"

namespace shoal::bench {
namespace {

traffic_counts traffic_here() {
  traffic_counts t;
  auto& pool = sched::this_worker()->owner();
  auto& ports = static_cast<remote::node_ports&>(pool.hooks());
  for (unsigned w = 0; w < pool.size(); ++w) {
    const auto& b = ports.at(w).flushes().buffers;
    t.full += b[static_cast<std::size_t>(aggregate::reason::full)];
    t.old += b[static_cast<std::size_t>(aggregate::reason::old)];
    t.idle += b[static_cast<std::size_t>(aggregate::reason::idle)];
    t.asked += b[static_cast<std::size_t>(aggregate::reason::asked)];
    t.commands += ports.server_at(w).counts().commands;
    t.served += ports.server_at(w).counts().buffers;
  }
  const net::route_counts routed = ports.transport().counts_of_routes();
  t.first_hops = routed.begun;
  t.further_hops = routed.handed_on;
  t.shared_buffers = routed.buffers;
  return t;
}

}  // namespace

traffic_counts traffic_so_far() {
  traffic_counts all;
  for (std::uint32_t n = 0; n < node_count(); ++n) {
    const traffic_counts t = on(n, [] { return traffic_here(); });
    all.full += t.full;
    all.old += t.old;
    all.idle += t.idle;
    all.asked += t.asked;
    all.commands += t.commands;
    all.served += t.served;
    all.first_hops += t.first_hops;
    all.further_hops += t.further_hops;
    all.shared_buffers += t.shared_buffers;
  }
  return all;
}

void record_traffic(report& r, const traffic_counts& before, const traffic_counts& after) {
  const std::uint64_t served = after.served - before.served;
  r.record("commands_per_buffer", "",
           served == 0 ? 0 : static_cast<double>(after.commands - before.commands) / static_cast<double>(served));
  const auto sent = [](const traffic_counts& t) { return t.full + t.old + t.idle + t.asked; };
  r.record("buffers_sent", "buffers", static_cast<double>(sent(after) - sent(before)));
  r.record("flush_full", "buffers", static_cast<double>(after.full - before.full));
  r.record("flush_old", "buffers", static_cast<double>(after.old - before.old));
  r.record("flush_idle", "buffers", static_cast<double>(after.idle - before.idle));
  r.record("flush_asked", "buffers", static_cast<double>(after.asked - before.asked));
  if (after.first_hops == 0) return;
  r.record("blocks_first_hop", "blocks", static_cast<double>(after.first_hops - before.first_hops));
  r.record("blocks_further_hops", "blocks", static_cast<double>(after.further_hops - before.further_hops));
  r.record("shared_buffers", "buffers", static_cast<double>(after.shared_buffers - before.shared_buffers));
}

}  // namespace shoal::bench
