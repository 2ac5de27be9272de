// SPDX-License-Identifier: Apache-2.0
// The package of each processor, from the kernel's files; hierarchical locks and the measured bias use it. It does not
// use package_map::of_machine(), because that needs hwloc, and the MPI library in this process may have its own hwloc.
// Who may call: any thread; reads files. Guarantees: packages are numbered from 0 without gaps; a processor that is
// offline or not described is in package 0. Test: tests/unit/mpi_threads/packages_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "shoal/locks/package_map.hpp"

namespace shoal::mpi_threads {

/// The packages of processors 0 to `processors` - 1.
std::vector<unsigned> read_packages(const std::string& folder, unsigned processors);

/// The packages of this machine, and a function for the package of the calling thread.
package_map packages_of_machine();

}  // namespace shoal::mpi_threads
