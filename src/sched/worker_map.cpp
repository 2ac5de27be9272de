// SPDX-License-Identifier: Apache-2.0
#include "sched/worker_map.hpp"

#include <algorithm>

#include "shoal/detail/assert.hpp"

namespace shoal {

static_assert(static_cast<int>(worker_distance::core) == static_cast<int>(machine::sharing::core) &&
              static_cast<int>(worker_distance::l2) == static_cast<int>(machine::sharing::l2) &&
              static_cast<int>(worker_distance::l3) == static_cast<int>(machine::sharing::l3) &&
              static_cast<int>(worker_distance::numa) == static_cast<int>(machine::sharing::numa) &&
              static_cast<int>(worker_distance::package) == static_cast<int>(machine::sharing::package) &&
              static_cast<int>(worker_distance::machine) == static_cast<int>(machine::sharing::machine));

steal_view::steal_view(unsigned self, const sched::worker_map& map, std::uint64_t seed) noexcept
    : self_(self), workers_(map.workers()), map_(map), random_(seed) {}

worker_distance steal_view::distance(unsigned victim) const noexcept { return map_.distance(self_, victim); }
unsigned steal_view::packages() const noexcept { return map_.packages(); }
unsigned steal_view::package(unsigned worker) const noexcept { return map_.package(worker); }
unsigned steal_view::first_in_package(unsigned package) const noexcept { return map_.first_in_package(package); }

namespace sched {

worker_map::worker_map(unsigned workers, std::span<const machine::processor> where)
    : where_(where.begin(), where.end()), package_(workers, 0), first_(1, 0) {
  SHOAL_ASSERT(where.empty() || where.size() == workers, "a place for each worker, or for none");
  if (where.empty()) return;
  first_.clear();
  for (unsigned w = 0; w < workers; ++w) {
    const auto same = [&](unsigned other) { return where[other].package == where[w].package; };
    const auto found = std::ranges::find_if(first_, same);
    package_[w] = static_cast<unsigned>(found - first_.begin());
    if (found == first_.end()) first_.push_back(w);
  }
}

}  // namespace sched
}  // namespace shoal
