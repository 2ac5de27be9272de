// SPDX-License-Identifier: Apache-2.0
// What a victim policy sees, as a test wants it: workers placed on a described machine, loads as set, a known seed.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "machine/topology.hpp"
#include "sched/steal_policies.hpp"
#include "sched/worker_map.hpp"

namespace shoal::sched {

inline worker_map described(const std::string& machine, unsigned workers) {
  return worker_map(workers, machine::topology::synthetic(machine).choose(1, 0, workers).where);
}

class scripted_view final : public steal_view {
public:
  static constexpr std::uint64_t k_seed = 4711;

  scripted_view(const worker_map& map, unsigned self) : steal_view(self, map, k_seed), loads(map.workers(), 0) {}
  std::size_t load(unsigned victim) const noexcept override {
    ++looks;
    return loads[victim];
  }

  std::vector<std::size_t> loads;
  mutable unsigned looks = 0;
};

using victims = std::vector<unsigned>;

/// The victims of `count` attempts; `result` says how each goes, by its number and victim.
inline victims drive(steal_policy& policy, std::size_t count,
                     const std::function<steal_result(std::size_t, unsigned)>& result = {}) {
  victims tried;
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned victim = policy.next();
    tried.push_back(victim);
    policy.tried(victim, result ? result(i, victim) : steal_result::empty);
  }
  return tried;
}

}  // namespace shoal::sched
