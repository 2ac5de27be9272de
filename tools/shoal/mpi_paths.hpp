// SPDX-License-Identifier: Apache-2.0
// Where the files of fine-grain MPI lie: beside the command where it was built, or where it was installed.
// Who may call: the command's main thread. Throws shoal::error (not_found).
#pragma once

#include <string>

namespace shoal::tools {

struct mpi_paths {
  std::string include;  // of mpi.h
  std::string library;  // the folder of libmpi_abi.so
  std::string start;    // an object file: lets a shared object be started as a program
  std::string host;     // what mpirun starts
  std::string gdb;      // a script: makes gdb ready for ranks
};
mpi_paths find_mpi();

}  // namespace shoal::tools
