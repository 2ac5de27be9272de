// SPDX-License-Identifier: Apache-2.0
#include "shoal/locks/package_map.hpp"

#include <memory>
#include <vector>

#include "machine/thread_id.hpp"
#include "machine/topology.hpp"

namespace shoal {

package_map package_map::of_machine() {
  const auto machine = machine::topology::discover();
  const bool by_node = machine.numa_nodes() > machine.packages();
  auto packages = std::make_shared<std::vector<unsigned>>();
  package_map map;
  for (const machine::processor& p : machine.processors()) {
    if (packages->size() <= p.pu) packages->resize(p.pu + 1, 0);
    const unsigned package = by_node ? p.numa : p.package;
    (*packages)[p.pu] = package;
    map.count = std::max(map.count, package + 1);
  }
  if (map.count > 1)
    map.here = [packages] {
      const unsigned pu = machine::current_processor();
      return pu < packages->size() ? (*packages)[pu] : 0;
    };
  return map;
}

}  // namespace shoal
