// SPDX-License-Identifier: Apache-2.0
// What the program in this process asks of its MPI library, as far as its loaded files tell: functions that wait inside
// the library without a non-blocking twin, and extensions (MPIX_...), that no lock in front of the library can guard.
// Who may call: any thread; reads the dynamic linker's tables only. Guarantees: knows all that is loaded by then,
// plugins loaded later are not seen; libraries of an MPI itself do not count.
// Shown by tests/unit/mpi_threads/imports_test.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::mpi_threads {

/// The function of MPI that a symbol of C or Fortran stands for, in lower case without "mpi_" ("send" for MPI_Send,
/// mpi_send_ and mpi_send_f08_), or nothing. An extension's keeps its "mpix_".
std::string mpi_function(std::string_view symbol);

/// Calls `use` with each symbol that a loaded file needs from another one, until it returns true.
void each_import(const std::function<bool(std::string_view)>& use);

/// The first of `names` ("Win_flush") that the loaded files use, or extension, as its symbol has it; empty if there is
/// none. What the C++ bindings of old Open MPIs import for their classes' sake counts: such programs are used as if
/// they called it.
std::string first_used(std::span<const char* const> names);

}  // namespace shoal::mpi_threads
