// SPDX-License-Identifier: Apache-2.0
// What can be told of a program from its file: whether a library can be preloaded into it, and which MPI it uses.
// 64-bit ELF of this machine's byte order. Who may call: any thread, in tools. Guarantees: no file, however broken,
// does more than give `elf` false or lists that are short. Shown by tests/unit/mpi_threads/elf_file_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace shoal::mpi_threads {

struct elf_file {
  bool elf = false;          // else a script, or something else
  bool program = false;      // to be executed; else a shared library, which may be marked executable too
  bool dynamic = false;      // starts through the dynamic linker, which is what preloads
  bool defines_mpi = false;  // has MPI_Init within itself
  std::vector<std::string> needed;
  std::vector<std::string> search;  // folders: DT_RPATH, DT_RUNPATH
};

elf_file read_elf(const std::string& path);

/// "openmpi", "mpich", "abi", or nothing if that library is no MPI that we know by its name.
std::optional<std::string> mpi_of_library(const std::string& name);

/// The same for a program, through the libraries that it needs and those that these need.
std::optional<std::string> mpi_of_program(const std::string& path);

}  // namespace shoal::mpi_threads
