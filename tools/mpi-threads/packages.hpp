// SPDX-License-Identifier: Apache-2.0
// The package of each processor, as the kernel's files tell: what a hierarchical lock and the measured bias go by. Not
// package_map::of_machine(), which brings hwloc with it: in a process that is not ours an MPI library may have its own.
// Who may call: any thread; reads files. Guarantees: packages are numbered from 0 without gaps; a processor that is
// switched off, or of which the files say nothing, is in package 0. Shown by tests/unit/mpi_threads/packages_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "shoal/locks/package_map.hpp"

namespace shoal::mpi_threads {

/// By the processor's number, of so many.
std::vector<unsigned> read_packages(const std::string& folder, unsigned processors);

/// Of this machine, and where the calling thread is.
package_map packages_of_machine();

}  // namespace shoal::mpi_threads
