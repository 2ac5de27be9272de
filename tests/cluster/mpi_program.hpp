// SPDX-License-Identifier: Apache-2.0
// MPI programs for tests: compiled by shoal mpicc, mpicxx and mpif90, run by shoal mpirun.
// Who may call: tests, from their main thread. SHOAL_COMMAND comes from the build.
#pragma once

#include <map>

#include "tests/cluster/folder.hpp"
#include "tests/cluster/job_process.hpp"

namespace shoal::test {

/// The program of that source file, compiled once, with debug information.
inline std::string mpi_program(const std::string& source) {
  static folder programs;
  static std::map<std::string, std::string> made;
  std::string& path = made[source];
  if (!path.empty()) return path;
  const bool fortran = source.ends_with(".f90");
  path = programs / std::filesystem::path(source).filename().replace_extension(fortran ? "f" : "");
  const bool cplusplus = source.ends_with(".cpp");
  // Optimised, Fortran's main program is no function of its own.
  std::vector<std::string> command{SHOAL_COMMAND,
                                   cplusplus ? "mpicxx"
                                   : fortran ? "mpif90"
                                             : "mpicc",
                                   "-g", fortran ? "-O0" : "-O1"};
  if (cplusplus) command.emplace_back("-std=c++20");
  if (fortran) command.insert(command.end(), {"-J", std::filesystem::path(path).parent_path().string()});  // modules
  command.insert(command.end(), {"-o", path, source});
  const outcome compiled = run(command);
  EXPECT_TRUE(compiled.status.clean()) << compiled;
  return path;
}

/// `shoal mpirun` with these options, then the program of that source file and its arguments.
inline std::vector<std::string> mpirun(const std::string& source, std::vector<std::string> options,
                                       const std::vector<std::string>& arguments = {}) {
  options.insert(options.begin(), {SHOAL_COMMAND, "mpirun"});
  options.insert(options.end(), {"--", mpi_program(source)});
  options.insert(options.end(), arguments.begin(), arguments.end());
  return options;
}

}  // namespace shoal::test
