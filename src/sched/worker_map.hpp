// SPDX-License-Identifier: Apache-2.0
// Where the workers of a pool are, as far as that is known, for the policies that choose victims: what each two share,
// and which package each is in. Constant once made.
// Who may call: any thread. Shown by tests/unit/sched/worker_map_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "machine/topology.hpp"
#include "shoal/steal_policy.hpp"

namespace shoal::sched {

class worker_map {
public:
  /// `where` by worker; empty where nothing is known: then all are in one package, and share the machine only.
  worker_map(unsigned workers, std::span<const machine::processor> where);

  unsigned workers() const noexcept { return static_cast<unsigned>(package_.size()); }
  worker_distance distance(unsigned a, unsigned b) const noexcept {
    if (where_.empty()) return worker_distance::machine;
    return static_cast<worker_distance>(machine::shared_by(where_[a], where_[b]));
  }
  unsigned packages() const noexcept { return static_cast<unsigned>(first_.size()); }
  unsigned package(unsigned worker) const noexcept { return package_[worker]; }
  unsigned first_in_package(unsigned package) const noexcept { return first_[package]; }

private:
  std::vector<machine::processor> where_;
  std::vector<unsigned> package_;  // by worker
  std::vector<unsigned> first_;    // by package: its first worker
};

}  // namespace shoal::sched
