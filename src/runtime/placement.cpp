// SPDX-License-Identifier: Apache-2.0
#include "runtime/placement.hpp"

#include <algorithm>

namespace shoal::runtime {

void place_workers(node_parts& parts, config& c, const machine::topology& machine, machine_share share) {
  parts.processors_for_it = std::max(machine.usable_processors() / share.nodes, 1U);
  if (c.workers == 0) c.workers = parts.processors_for_it;
  parts.processors.assign(c.workers, -1);
  const auto place = machine.choose(share.nodes, share.index, c.workers);
  const bool pin = c.pin && place.pin;
  if (pin) std::copy(place.pus.begin(), place.pus.end(), parts.processors.begin());
  if (!c.topology.empty())
    parts.where = machine::topology::synthetic(c.topology).choose(1, 0, c.workers).where;
  else if (pin)
    parts.where = place.where;
}

}  // namespace shoal::runtime
