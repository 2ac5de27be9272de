// SPDX-License-Identifier: Apache-2.0
// `shoal mpi-threads`: chooses the preload library for a command line, makes the command to execute, and sums the
// reports of its processes.
// Who may call: the command's main thread. Throws shoal::error if the lock cannot work: a statically linked program, an
// MPI library without a preload library here, no MPI at all. Tests: tests/unit/mpi_threads and tests/mpi.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/mpi-threads/settings.hpp"

namespace shoal::mpi_threads {

struct launch_plan {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::string mpi;                       // the MPI library of the chosen preload library
};

/// `mpi`: the name of the library; "" to detect it. `libraries`: the folders of the preload libraries.
launch_plan plan(const std::vector<std::string>& command, const std::string& mpi, const settings& s,
                 const std::vector<std::string>& libraries);

/// Sums the reports in a folder: {"processes": n, "threads": n, "calls": {...}, ...}. Ignores broken files.
nlohmann::json collect(const std::string& folder);

/// Formats the sum as a table. Reports if some or all processes did not report their end.
std::string describe(const nlohmann::json& sum);

}  // namespace shoal::mpi_threads
