// SPDX-License-Identifier: Apache-2.0
#include "runtime/cycle_watch.hpp"

#include <algorithm>

#include "base/log.hpp"

namespace shoal::runtime {

// Those that two surveys see existed in between. Most surveys see none, and are the only ones.
void cycle_watch::look(const watched_job& job, machine::executor& by, std::uint64_t now_ns) {
  if (reported_.size() >= k_most_cycles) return;
  bool suspected = false;
  for (sched::pool* p : job.pools) suspected |= p->take_suspicion();
  const auto awaited = [&job] {
    bool any = false;
    for (sched::pool* p : job.pools) any |= p->take_holder_awaited();
    return any;
  };
  if (!searches_.is_due(now_ns, suspected, awaited)) return;
  machine::symbols names;
  std::uint64_t cost_ns = 0;
  const auto before = waits_here(job, names, &cost_ns);
  const bool any = std::ranges::any_of(before, [](const node_waits& n) { return !n.cycles.empty(); });
  const auto after = any ? waits_here(job, names, &cost_ns) : std::vector<node_waits>(before.size());
  bool found = false;
  for (std::size_t i = 0; i < before.size(); ++i)
    for (const std::string& cycle : after[i].cycles) {
      if (std::ranges::find(before[i].cycles, cycle) == before[i].cycles.end() ||
          std::ranges::find(reported_, cycle) != reported_.end())
        continue;
      reported_.push_back(cycle);
      found = true;
      base::warn(
          "tasks of node {} wait for each other in a cycle: {}; lock mutexes in one order everywhere, and each once",
          after[i].node, cycle);
    }
  searches_.looked(by.now_ns(), cost_ns, found);
}

}  // namespace shoal::runtime
