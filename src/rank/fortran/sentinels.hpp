// SPDX-License-Identifier: Apache-2.0
// The places in memory that Fortran programs name instead of a buffer or an array: MPI_BOTTOM, MPI_IN_PLACE,
// MPI_STATUS_IGNORE and others are variables of one common block. The wrapper compilers leave the block open to
// definitions elsewhere (--export-dynamic-symbol), so all copies of a program in a process use the one of this library,
// and an address tells which of them is meant.
// Who may call: anybody.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi-abi/mpi.h"

namespace shoal::rank::fortran {

/// As in include/mpi-abi/fortran/mpi_sentinels.inc.
struct sentinels {
  int bottom;
  int in_place;
  int buffer_automatic;
  int unweighted;
  int weights_empty;
  int errcodes_ignore;
  int status_ignore[8];
  int statuses_ignore[8];
  char argv_null;
  char argvs_null;
};
static_assert(offsetof(sentinels, status_ignore) == 6 * sizeof(int) &&
              offsetof(sentinels, statuses_ignore) == 14 * sizeof(int));  // mpi-abi/fortran_handles.inc knows these

}  // namespace shoal::rank::fortran

namespace shoal::rank::fortran {

/// The constant of C for a place in the common block.
void* constant_at(std::uintptr_t offset) noexcept;

/// What C gets for an address of Fortran.
inline void* address_of(void* at) noexcept {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(at) - reinterpret_cast<std::uintptr_t>(mpi_fortran_sentinels_);
  return offset >= sizeof(sentinels) ? at : constant_at(offset);
}

}  // namespace shoal::rank::fortran
