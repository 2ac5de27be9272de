// SPDX-License-Identifier: Apache-2.0
// Finds the MPI functions that this process uses, from its loaded files: functions that wait inside the library and
// have no non-blocking version, and extensions (MPIX_...). No lock in front of the library can protect these.
// Who may call: any thread; reads only the dynamic linker's tables. Guarantees: sees all files loaded so far; plugins
// loaded later are not seen; the files of an MPI library do not count. Test: tests/unit/mpi_threads/imports_test.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace shoal::mpi_threads {

/// The MPI function of a C or Fortran symbol, in lower case without "mpi_" ("send" for MPI_Send, mpi_send_ and
/// mpi_send_f08_), or nothing. An extension keeps its prefix "mpix_".
std::string mpi_function(std::string_view symbol);

/// Calls `use` with each symbol that a loaded file imports, until it returns true.
void each_import(const std::function<bool(std::string_view)>& use);

/// The first of `names` ("Win_flush") or the first extension that the loaded files use, spelled as its symbol; empty if
/// there is none. Imports of old C++ bindings of Open MPI count as uses.
std::string first_used(std::span<const char* const> names);

}  // namespace shoal::mpi_threads
