// SPDX-License-Identifier: Apache-2.0
// `shoal mpi-threads`: which preload library a command line needs, the command with it, and what its processes
// reported. Who may call: the command's main thread. Throws shoal::error where nothing could come of it: a program
// linked statically, an MPI without a preload library here, no MPI at all. Shown by tests/unit/mpi_threads and
// tests/mpi.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/mpi-threads/settings.hpp"

namespace shoal::mpi_threads {

struct launch_plan {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"
  std::string mpi;                       // whose preload library it is
};

/// `mpi`: "" for what the program is linked with, else the library's name. `libraries`: where the preload libraries
/// lie.
launch_plan plan(const std::vector<std::string>& command, const std::string& mpi, const settings& s,
                 const std::vector<std::string>& libraries);

/// The reports in a folder, summed: {"processes": n, "threads": n, "calls": {...}, ...}. Broken files are left out.
nlohmann::json collect(const std::string& folder);

/// The sum as a table; says so if no process, or not every one, reported its end.
std::string describe(const nlohmann::json& sum);

}  // namespace shoal::mpi_threads
