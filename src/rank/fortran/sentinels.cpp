// SPDX-License-Identifier: Apache-2.0
#include "rank/fortran/sentinels.hpp"

// Aligned as compilers align common blocks, since their blocks and this one take each other's place.
extern "C" {
alignas(32) [[gnu::visibility("default")]] MPI_Fint
    mpi_fortran_sentinels_[(sizeof(shoal::rank::fortran::sentinels) + 3) / 4] = {};
}

namespace shoal::rank::fortran {

void* constant_at(std::uintptr_t offset) noexcept {
  switch (offset) {
    case offsetof(sentinels, in_place): return MPI_IN_PLACE;
    case offsetof(sentinels, buffer_automatic): return MPI_BUFFER_AUTOMATIC;
    case offsetof(sentinels, unweighted): return MPI_UNWEIGHTED;
    case offsetof(sentinels, weights_empty): return MPI_WEIGHTS_EMPTY;
    default: return nullptr;  // MPI_BOTTOM, and what C ignores as a null pointer
  }
}

}  // namespace shoal::rank::fortran
