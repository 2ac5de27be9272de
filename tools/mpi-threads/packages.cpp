// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/packages.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <utility>

#include "machine/thread_id.hpp"

namespace shoal::mpi_threads {

std::vector<unsigned> read_packages(const std::string& folder, unsigned processors) {
  std::vector<unsigned> all(processors, 0);
  std::map<int, unsigned> numbers;  // the kernel may use any numbers
  for (unsigned p = 0; p < processors; ++p) {
    std::ifstream file(folder + "/cpu" + std::to_string(p) + "/topology/physical_package_id");
    int package = 0;
    if (file >> package) all[p] = numbers.emplace(package, static_cast<unsigned>(numbers.size())).first->second;
  }
  return all;
}

package_map packages_of_machine() {
  const long configured = sysconf(_SC_NPROCESSORS_CONF);
  auto packages = read_packages("/sys/devices/system/cpu", static_cast<unsigned>(std::max(configured, 1L)));
  package_map map;
  map.count = *std::ranges::max_element(packages) + 1;
  if (map.count > 1)
    map.here = [packages = std::move(packages)] {
      const auto place = machine::current_processor();
      return place < packages.size() ? packages[place] : 0;
    };
  return map;
}

}  // namespace shoal::mpi_threads
