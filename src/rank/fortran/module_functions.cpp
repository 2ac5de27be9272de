// SPDX-License-Identifier: Apache-2.0
// What the modules mpi and mpi_f08 have besides the functions of C: comparisons of handles, and MPI_SIZEOF.
#include "rank/fortran/arguments.hpp"

using namespace shoal::rank::fortran;  // NOLINT: the procedures of a Fortran interface

#define SHOAL_FORTRAN_COMPARED(name)                                                                    \
  SHOAL_FORTRAN_PROCEDURE(int, name##_equal, (const int* a, const int* b)) { return *a == *b ? 1 : 0; } \
  SHOAL_FORTRAN_PROCEDURE(int, name##_differ, (const int* a, const int* b)) { return *a != *b ? 1 : 0; }
SHOAL_FORTRAN_COMPARED(comm)
SHOAL_FORTRAN_COMPARED(datatype)
SHOAL_FORTRAN_COMPARED(errhandler)
SHOAL_FORTRAN_COMPARED(file)
SHOAL_FORTRAN_COMPARED(group)
SHOAL_FORTRAN_COMPARED(info)
SHOAL_FORTRAN_COMPARED(message)
SHOAL_FORTRAN_COMPARED(op)
SHOAL_FORTRAN_COMPARED(request)
SHOAL_FORTRAN_COMPARED(session)
SHOAL_FORTRAN_COMPARED(win)

// The variable itself is not looked at: its type has chosen the procedure. Texts have a length of their own.
#define SHOAL_FORTRAN_SIZE(suffix, bytes)                                                \
  SHOAL_FORTRAN_PROCEDURE(void, sizeof_##suffix, (word /*x*/, int* size, int* ierror)) { \
    *size = bytes;                                                                       \
    report(ierror, MPI_SUCCESS);                                                         \
  }
SHOAL_FORTRAN_SIZE(character, 1)
SHOAL_FORTRAN_SIZE(logical_4, 4)
SHOAL_FORTRAN_SIZE(logical_8, 8)
SHOAL_FORTRAN_SIZE(integer_1, 1)
SHOAL_FORTRAN_SIZE(integer_2, 2)
SHOAL_FORTRAN_SIZE(integer_4, 4)
SHOAL_FORTRAN_SIZE(integer_8, 8)
SHOAL_FORTRAN_SIZE(real_4, 4)
SHOAL_FORTRAN_SIZE(real_8, 8)
SHOAL_FORTRAN_SIZE(complex_4, 8)
SHOAL_FORTRAN_SIZE(complex_8, 16)
