// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/entry_meter.hpp"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <utility>

namespace shoal::mpi_threads {
namespace {

// The package of each processor; no more of the machine is asked in a process that is not ours.
std::vector<unsigned> packages_of_processors() {
  std::vector<unsigned> all;
  for (;;) {
    std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(all.size()) + "/topology/physical_package_id");
    int package = 0;
    if (!(file >> package)) return all;
    all.push_back(static_cast<unsigned>(std::max(package, 0)));
  }
}

std::vector<unsigned> package_of_number(unsigned packages) {
  std::vector<unsigned> all;
  for (unsigned p = 0; p < packages; ++p) all.insert(all.end(), entry_meter::k_threads_per_package, p);
  return all;
}

unsigned count_of(const std::vector<unsigned>& packages) {
  return packages.empty() ? 1 : *std::ranges::max_element(packages) + 1;
}

std::function<unsigned()> package_here(std::vector<unsigned> packages) {
  return [packages = std::move(packages)] {
    const int processor = sched_getcpu();
    const auto place = static_cast<std::size_t>(std::max(processor, 0));
    return place < packages.size() ? packages[place] : 0;
  };
}

}  // namespace

thread_local entry_meter::mine entry_meter::t_mine;

entry_meter::entry_meter(unsigned packages, std::function<unsigned()> here)
    : here_(std::move(here)), meter_(package_of_number(packages)), known_(packages) {}

entry_meter::entry_meter() : entry_meter(count_of(packages_of_processors()), package_here(packages_of_processors())) {}

entry_meter::mine& entry_meter::me() {
  if (t_mine.owner == this) [[likely]]
    return t_mine;
  const unsigned package = here_();
  const unsigned number = known_[package].fetch_add(1, std::memory_order_relaxed);
  t_mine = {this, number < k_threads_per_package ? package * k_threads_per_package + number : k_none, 0};
  return t_mine;
}

void entry_meter::begins() {
  mine& m = me();
  if (m.depth++ == 0 && m.number != k_none) meter_.asks(m.number);
}

void entry_meter::returned() {
  mine& m = me();
  if (--m.depth != 0 || m.number == k_none) return;
  order_.lock();
  meter_.got(m.number);
  meter_.gives(m.number);
  order_.unlock();
}

}  // namespace shoal::mpi_threads
