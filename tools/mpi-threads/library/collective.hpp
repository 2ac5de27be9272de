// SPDX-License-Identifier: Apache-2.0
// Small barriers, broadcasts and reductions by messages (see collective.cpp).
// Who may call: the wrappers; free_lanes(): the owner of the lock, when MPI ends. Test: tests/mpi (collectives.c).
#pragma once

namespace shoal::mpi_threads {

void free_lanes();

}  // namespace shoal::mpi_threads
