// SPDX-License-Identifier: Apache-2.0
#include "rank/abi/function_list.hpp"

#include "mpi-abi/mpi.h"

// The section of src/rank/abi/unsupported.cpp; from the linker.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __start_mpi_unsupported;  // NOLINT: the linker's names
[[gnu::visibility("hidden")]] extern const char __stop_mpi_unsupported;   // NOLINT
}

namespace shoal::rank::abi {
namespace {

template <class Function>
listed_function listed(const char* name, Function* f) {
  const auto* const at = reinterpret_cast<const char*>(f);
  return {name, at < &__start_mpi_unsupported || at >= &__stop_mpi_unsupported};
}

}  // namespace

std::vector<listed_function> function_list() {
  return {
#define MPI_ABI_FUNCTION(result, name, parameters) listed("MPI_" #name, PMPI_##name),
#define MPI_ABI_COUNTED(result, name, parameters) listed("MPI_" #name, PMPI_##name),
#define MPI_ABI_COUNT int
#define MPI_ABI_PLACE int
#define MPI_ABI_WIDE MPI_Aint
#include "mpi-abi/functions/all.inc"

#include "mpi-abi/functions/large.inc"
#define MPI_ABI_COUNTED(result, name, parameters) listed("MPI_" #name "_c", PMPI_##name##_c),
#include "mpi-abi/functions/all.inc"

#include "mpi-abi/functions/end.inc"
  };
}

}  // namespace shoal::rank::abi
