// SPDX-License-Identifier: Apache-2.0
// Functions of MPI-1 that MPI-3 removed: each has a successor that takes the same.
#include "rank/abi/entry.hpp"

namespace {

// One of the bounds of a datatype.
template <class F>
int give_bound(MPI_Datatype type, MPI_Aint* bound, const F& of) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int code = PMPI_Type_get_extent(type, &lower, bound == nullptr ? nullptr : &extent);  // refuses a null
  if (code == MPI_SUCCESS) *bound = of(lower, extent);
  return code;
}

}  // namespace

extern "C" {

int PMPI_Address(const void* location, MPI_Aint* address) { return PMPI_Get_address(location, address); }
MPI_ABI_ALIAS(Address)

int PMPI_Type_extent(MPI_Datatype type, MPI_Aint* extent) {
  return give_bound(type, extent, [](MPI_Aint /*lower*/, MPI_Aint bytes) { return bytes; });
}
MPI_ABI_ALIAS(Type_extent)

int PMPI_Type_lb(MPI_Datatype type, MPI_Aint* bound) {
  return give_bound(type, bound, [](MPI_Aint lower, MPI_Aint /*bytes*/) { return lower; });
}
MPI_ABI_ALIAS(Type_lb)

int PMPI_Type_ub(MPI_Datatype type, MPI_Aint* bound) {
  return give_bound(type, bound, [](MPI_Aint lower, MPI_Aint bytes) { return lower + bytes; });
}
MPI_ABI_ALIAS(Type_ub)

int PMPI_Type_hvector(int count, int length, MPI_Aint stride, MPI_Datatype of, MPI_Datatype* made) {
  return PMPI_Type_create_hvector(count, length, stride, of, made);
}
MPI_ABI_ALIAS(Type_hvector)

int PMPI_Type_hindexed(int count, const int* lengths, const MPI_Aint* displacements, MPI_Datatype of,
                       MPI_Datatype* made) {
  return PMPI_Type_create_hindexed(count, lengths, displacements, of, made);
}
MPI_ABI_ALIAS(Type_hindexed)

int PMPI_Type_struct(int count, const int* lengths, const MPI_Aint* displacements, const MPI_Datatype* of,
                     MPI_Datatype* made) {
  return PMPI_Type_create_struct(count, lengths, displacements, of, made);
}
MPI_ABI_ALIAS(Type_struct)

int PMPI_Errhandler_create(MPI_Handler_function* f, MPI_Errhandler* errhandler) {
  return PMPI_Comm_create_errhandler(f, errhandler);
}
MPI_ABI_ALIAS(Errhandler_create)

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) { return PMPI_Comm_set_errhandler(comm, errhandler); }
MPI_ABI_ALIAS(Errhandler_set)

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
MPI_ABI_ALIAS(Errhandler_get)
}
