// SPDX-License-Identifier: Apache-2.0
// The package (or NUMA node) of the calling thread, for hierarchical locks. of_machine() uses the real topology; a
// program or a benchmark may supply another function.
// Who may call: every lock() of a hierarchical lock calls `here`, on any thread; it must be fast and return less than
// `count`. Never switches tasks. of_machine() reads the topology, which is slow. Test: tests/unit/locks/kinds_test.cpp.
#pragma once

#include <functional>

namespace shoal {

struct package_map {
  unsigned count = 1;
  std::function<unsigned()> here;  // empty: all threads are in package 0

  /// The packages of this machine, or its NUMA nodes if there are more of them.
  static package_map of_machine();

  unsigned package() const { return here ? here() : 0; }
};

}  // namespace shoal
