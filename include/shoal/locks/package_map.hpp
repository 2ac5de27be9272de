// SPDX-License-Identifier: Apache-2.0
// Which package (or NUMA node: whatever is dear to cross) the calling thread is in: what a hierarchical lock is made
// for. of_machine() asks the machine; a program or a benchmark may describe another arrangement by its own function.
// Who may call: `here` is called by every lock() of a hierarchical lock, on any thread; it must be quick and answer
// less than `count`. Never switches tasks. of_machine() reads the topology, which takes a while.
// Shown by tests/unit/locks/kinds_test.cpp.
#pragma once

#include <functional>

namespace shoal {

struct package_map {
  unsigned count = 1;
  std::function<unsigned()> here;  // none: all threads are in package 0

  /// Packages of this machine, or its NUMA nodes where there are more of them.
  static package_map of_machine();

  unsigned package() const { return here ? here() : 0; }
};

}  // namespace shoal
