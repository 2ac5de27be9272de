// SPDX-License-Identifier: Apache-2.0
// Procedures of MPI-1 that MPI-3 removed, for programs with mpif.h that still call them. Addresses and displacements are
// default integers: differences of addresses are right, an address itself is cut off, so MPI_BOTTOM is of no use with it.
#include <vector>

#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

// In callbacks.cpp.
extern "C" void pmpi_comm_create_errhandler_(void (*f)(int*, int*), int* errhandler, int* ierror);

namespace {

using places = std::vector<MPI_Aint>;

places places_at(const int* at, int count) { return {at, at + std::max(count, 0)}; }

void give_type(MPI_Datatype made, int* type) noexcept { *type = number_of(made); }

// One of the bounds of a datatype.
template <class F>
void give_bound(word type, int* bound, int* ierror, const F& of) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int code = PMPI_Type_get_extent(handle_at<MPI_Datatype>(type), &lower, &extent);
  if (code == MPI_SUCCESS) *bound = static_cast<int>(of(lower, extent));
  report(ierror, code);
}

}  // namespace

SHOAL_FORTRAN_PROCEDURE(void, address, (word location, int* address, int* ierror)) {
  *address = static_cast<int>(reinterpret_cast<std::intptr_t>(address_of(location)));
  report(ierror, MPI_SUCCESS);
}

SHOAL_FORTRAN_PROCEDURE(void, type_extent, (word type, int* extent, int* ierror)) {
  give_bound(type, extent, ierror, [](MPI_Aint /*lower*/, MPI_Aint bytes) { return bytes; });
}

SHOAL_FORTRAN_PROCEDURE(void, type_lb, (word type, int* bound, int* ierror)) {
  give_bound(type, bound, ierror, [](MPI_Aint lower, MPI_Aint /*bytes*/) { return lower; });
}

SHOAL_FORTRAN_PROCEDURE(void, type_ub, (word type, int* bound, int* ierror)) {
  give_bound(type, bound, ierror, [](MPI_Aint lower, MPI_Aint bytes) { return lower + bytes; });
}

SHOAL_FORTRAN_PROCEDURE(void, type_hvector,
                        (const int* count, const int* length, const int* stride, word of, int* type, int* ierror)) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  report(ierror, PMPI_Type_create_hvector(*count, *length, *stride, handle_at<MPI_Datatype>(of), &made));
  give_type(made, type);
}

SHOAL_FORTRAN_PROCEDURE(void, type_hindexed,
                        (const int* count, const int* lengths, const int* displacements, word of, int* type,
                         int* ierror)) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  report(ierror, PMPI_Type_create_hindexed(*count, lengths, places_at(displacements, *count).data(),
                                           handle_at<MPI_Datatype>(of), &made));
  give_type(made, type);
}

SHOAL_FORTRAN_PROCEDURE(void, type_struct,
                        (const int* count, const int* lengths, const int* displacements, const int* of, int* type,
                         int* ierror)) {
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(std::max(*count, 0)));
  for (std::size_t i = 0; i < types.size(); ++i) take(of[i], types[i]);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  report(ierror,
         PMPI_Type_create_struct(*count, lengths, places_at(displacements, *count).data(), types.data(), &made));
  give_type(made, type);
}

SHOAL_FORTRAN_PROCEDURE(void, errhandler_create, (word f, int* errhandler, int* ierror)) {
  pmpi_comm_create_errhandler_(reinterpret_cast<void (*)(int*, int*)>(f), errhandler, ierror);
}

SHOAL_FORTRAN_PROCEDURE(void, errhandler_set, (word comm, word errhandler, int* ierror)) {
  report(ierror, PMPI_Comm_set_errhandler(handle_at<MPI_Comm>(comm), handle_at<MPI_Errhandler>(errhandler)));
}

SHOAL_FORTRAN_PROCEDURE(void, errhandler_get, (word comm, int* errhandler, int* ierror)) {
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  report(ierror, PMPI_Comm_get_errhandler(handle_at<MPI_Comm>(comm), &found));
  *errhandler = number_of(found);
}
