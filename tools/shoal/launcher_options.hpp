// SPDX-License-Identifier: Apache-2.0
// What users of other launchers (mpirun of Open MPI and MPICH, srun) write for `shoal mpirun`: what means the same is
// brought into its form, and for the rest an error says what to write instead. The program's own words stay.
// Who may call: the command's main thread. Errors: shoal::error.
// Test: tests/unit/tools/command_test.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace shoal::tools {

/// `words`: the command line from "mpirun" on. "-np 4" becomes "--np 4", which else is the option -n with the value p;
/// "--profile FILE.json" becomes "--profile=FILE.json".
std::vector<std::string> with_own_options(const CLI::App& mpirun, std::vector<std::string> words);

}  // namespace shoal::tools
