// SPDX-License-Identifier: Apache-2.0
// The interfaces of MPI's functions in the modules mpi and mpi_f08, made from the list of C functions
// (include/mpi-abi/functions/) and that of Fortran's procedures (src/rank/fortran/functions.inc).
// Who may call: anybody.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::tools {

enum class fortran_module : std::uint8_t { mpi, mpi_f08 };

/// Lines of Fortran for the part of a module where interfaces stand.
std::string fortran_interfaces(fortran_module of);

}  // namespace shoal::tools
