// SPDX-License-Identifier: Apache-2.0
// Rendezvous through Slurm's PMI-2 (srun --mpi=pmi2), with Slurm's own library, which is loaded on demand. MPICH's
// launcher sets variables with the same names but implements PMI-1: it is recognised, and left to MPI.
// Who may call: find_rendezvous(). Tests: tests/unit/launch/rendezvous_test.cpp, tests/cluster/slurm.sh.
#pragma once

#include <memory>

#include "launch/rendezvous.hpp"

namespace shoal::launch {

/// Null: this process was not started so, or the library is not there.
std::unique_ptr<rendezvous> find_pmi2();
/// Whether the environment is that of srun --mpi=pmi2.
bool shows_pmi2();

}  // namespace shoal::launch
