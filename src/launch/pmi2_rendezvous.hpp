// SPDX-License-Identifier: Apache-2.0
// What Slurm tells through PMI-2 (srun --mpi=pmi2), by its own library, which is loaded only then. MPICH's launcher sets
// variables of the same names and speaks PMI-1 behind them: it is told apart, and left to MPI.
// Who may call: find_rendezvous(). Shown by tests/unit/launch/rendezvous_test.cpp, tests/cluster/slurm.sh.
#pragma once

#include <memory>

#include "launch/rendezvous.hpp"

namespace shoal::launch {

/// Null: this process was not started so, or the library is not there.
std::unique_ptr<rendezvous> find_pmi2();
/// Whether the environment is that of srun --mpi=pmi2.
bool shows_pmi2();

}  // namespace shoal::launch
