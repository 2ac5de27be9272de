// SPDX-License-Identifier: Apache-2.0
// The settings of the preload library, read from its environment (SHOAL_MPI_THREADS_...). `shoal mpi-threads` sets
// them.
// Who may call: the thread that initialises MPI, and the command. Guarantees: an invalid value is an error that names
// the variable. Test: tests/unit/mpi_threads/settings_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace shoal::mpi_threads {

struct settings {
  std::string lock = "bounded";  // none: no lock, the library's own bias is measured
  std::string wait = "adaptive";
  std::string level = "auto";  // or serialized, multiple: the level with which the library is initialised
  unsigned bound = 64;
  unsigned spins = 32;     // polls without success before a waiting thread yields
  bool bias = false;       // measure the bias of calls that return at once, from outside
  bool dangling = false;   // count requests that are complete and not yet freed
  std::string underneath;  // NAME=value,...: settings of the MPI library for programs that use the lock
  std::string reports;     // a folder for a report per process; empty: a table on standard error

  /// "NAME=value" for each setting, so that this process's own environment has no effect.
  std::vector<std::string> environment() const;
  /// Throws shoal::error if a value is invalid.
  void check() const;
};

settings settings_from_environment();

}  // namespace shoal::mpi_threads
