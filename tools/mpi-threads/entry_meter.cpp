// SPDX-License-Identifier: Apache-2.0
#include "tools/mpi-threads/entry_meter.hpp"

#include <utility>

#include "tools/mpi-threads/packages.hpp"

namespace shoal::mpi_threads {
namespace {

std::vector<unsigned> package_of_number(unsigned packages) {
  std::vector<unsigned> all;
  for (unsigned p = 0; p < packages; ++p) all.insert(all.end(), entry_meter::k_threads_per_package, p);
  return all;
}

}  // namespace

thread_local entry_meter::mine entry_meter::t_mine;

entry_meter::entry_meter(unsigned packages, std::function<unsigned()> here)
    : here_(std::move(here)), meter_(package_of_number(packages)), known_(packages) {}

entry_meter::entry_meter(const package_map& packages)
    : entry_meter(packages.count, [packages] { return packages.package(); }) {}

entry_meter::entry_meter() : entry_meter(packages_of_machine()) {}

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
