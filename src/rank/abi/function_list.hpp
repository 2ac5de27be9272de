// SPDX-License-Identifier: Apache-2.0
// The functions of the standard ABI, and which of them this library has.
// Who may call: anybody. Test: tests/unit/tools/mpi_test.cpp.
#pragma once

#include <vector>

namespace shoal::rank::abi {

struct listed_function {
  const char* name;  // "MPI_Send"
  bool supported;    // false: it reports MPI_ERR_UNSUPPORTED_OPERATION
};

/// In the order of include/mpi-abi/functions; those with large counts behind all others.
[[gnu::visibility("default")]] std::vector<listed_function> function_list();

}  // namespace shoal::rank::abi
