// SPDX-License-Identifier: Apache-2.0
// The modules mpi and mpi_f08, compiled. A compiled module fits one version of one compiler, so it is made when a
// compiler is used for the first time, and kept in the user's cache (XDG_CACHE_HOME, or .cache in the home).
// Who may call: the command's main thread. Throws shoal::error if the compiler fails or there is no such folder.
#pragma once

#include <span>
#include <string>

namespace shoal::tools {

/// The folder of the module files and their object files, mpi.o and mpi_f08.o. `sources` has mpi.f90 and mpi_f08.f90.
std::string fortran_modules(std::span<const std::string> compiler, const std::string& sources);

}  // namespace shoal::tools
