// SPDX-License-Identifier: Apache-2.0
// What the program in this process asks of its MPI library, as far as its loaded files tell: functions that wait inside
// the library without a non-blocking twin, and extensions (MPIX_...), that no lock in front of the library can guard.
// Who may call: any thread; reads the dynamic linker's tables only. Guarantees: knows all that is loaded by then, plugins
// loaded later are not seen; libraries of an MPI itself do not count.
// Shown by tests/unit/mpi_threads/imports_test.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::mpi_threads {

/// The function of MPI that a symbol of C or Fortran stands for, in lower case without "mpi_" ("send" for MPI_Send,
/// mpi_send_ and mpi_send_f08_), or nothing. An extension's keeps its "mpix_".
std::string mpi_function(std::string_view symbol);

/// Calls `use` with each symbol that a loaded file needs from another one, until it returns true.
void each_import(const std::function<bool(std::string_view)>& use);

/// Of one loaded file, the symbols that it needs from others.
using imported = std::vector<std::string_view>;

/// The first of `names` ("Win_flush") that these files use, or extension, as its symbol has it; empty if there is none.
/// A file made with Open MPI's C++ bindings imports what their virtual functions call, whether or not the program calls
/// it: MPI_Win_lock and its kin count there only if some file makes a window, and what joins processes (MPI_Comm_spawn,
/// MPI_Comm_accept) does not count. A program of that kind that does join processes is told so when it calls
/// (joins_under_lock); in all others it counts.
std::string first_used_of(std::span<const imported> files, std::span<const char* const> names);
/// The same of all files that are loaded here.
std::string first_used(std::span<const char* const> names);

/// Says, once, that the function `name` joins processes while the library is serialized.
void joins_under_lock(const char* name);

}  // namespace shoal::mpi_threads
