// SPDX-License-Identifier: Apache-2.0
// Reads from a program's file whether a library can be preloaded into it, and which MPI it uses. Supports 64-bit ELF
// with this machine's byte order.
// Who may call: any thread, in tools. Guarantees: for any broken file, `elf` is false or lists are incomplete; nothing
// worse happens. Test: tests/unit/mpi_threads/elf_file_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shoal::mpi_threads {

struct elf_file {
  bool elf = false;          // false: a script or another file
  bool program = false;      // an executable; false: a shared library, which may be marked executable too
  bool dynamic = false;      // starts through the dynamic linker, which does the preloading
  bool defines_mpi = false;  // contains MPI_Init
  std::vector<std::string> needed;
  std::vector<std::string> search;  // folders: DT_RPATH, DT_RUNPATH
};

elf_file read_elf(const std::string& path);

/// "openmpi", "mpich", "abi", or nothing if the name is not that of a known MPI library.
std::optional<std::string> mpi_of_library(const std::string& name);

/// The same for a program, from the libraries that it needs directly or indirectly.
std::optional<std::string> mpi_of_program(const std::string& path);

}  // namespace shoal::mpi_threads
