// SPDX-License-Identifier: Apache-2.0
// What the preload library is told through its environment (SHOAL_MPI_THREADS_...), set by `shoal mpi-threads`.
// Who may call: the thread that initialises MPI, and the command. Guarantees: a value that makes no sense is an error
// that names the variable. Shown by tests/unit/mpi_threads/settings_test.cpp.
#pragma once

#include <string>
#include <vector>

namespace shoal::mpi_threads {

struct settings {
  std::string lock = "bounded";  // none: the library by itself, measured
  std::string wait = "adaptive";
  std::string level = "auto";  // or serialized, multiple: with which level the library underneath is initialised
  unsigned bound = 64;
  unsigned spins = 2;     // polls without success before a waiting thread gives way
  bool bias = false;      // measure the bias of calls that return at once, from outside
  bool dangling = false;  // count requests that are complete and not yet freed
  std::string
      underneath;       // NAME=value,...: the MPI library's own settings, for programs that the lock is put in front of
  std::string reports;  // a folder for a report per process; empty: a table on standard error

  /// "NAME=value" for each, so that none of this process's own environment counts.
  std::vector<std::string> environment() const;
  /// Throws shoal::error unless all values make sense.
  void check() const;
};

settings settings_from_environment();

}  // namespace shoal::mpi_threads
