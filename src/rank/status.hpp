// SPDX-License-Identifier: Apache-2.0
// What the library keeps in the fields of MPI_Status that the standard leaves to it: the number of bytes received, and
// whether the operation was cancelled.
// Who may call: anybody.
#pragma once

#include <cstdint>
#include <cstring>

#include "mpi-abi/mpi.h"

namespace shoal::rank {

inline std::uint64_t bytes_of(const MPI_Status& s) noexcept {
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, s.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_bytes(MPI_Status& s, std::uint64_t bytes) noexcept {
  std::memcpy(s.MPI_internal, &bytes, sizeof bytes);
}
inline bool is_cancelled(const MPI_Status& s) noexcept { return s.MPI_internal[2] != 0; }
inline void set_cancelled(MPI_Status& s, bool cancelled) noexcept { s.MPI_internal[2] = cancelled ? 1 : 0; }

/// All but MPI_ERROR, which only functions of several requests set.
inline void set_status(MPI_Status* s, int source, int tag, std::uint64_t bytes, bool cancelled) noexcept {
  if (s == MPI_STATUS_IGNORE) return;
  s->MPI_SOURCE = source;
  s->MPI_TAG = tag;
  set_bytes(*s, bytes);
  set_cancelled(*s, cancelled);
}
/// Of no operation: the standard's empty status.
inline void set_empty(MPI_Status* s) noexcept {
  set_status(s, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, false);
  if (s != MPI_STATUS_IGNORE) s->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace shoal::rank
