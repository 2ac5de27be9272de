! SPDX-License-Identifier: Apache-2.0
! The module mpi: the constants of mpif.h, and interfaces that the compiler
! checks. Handles are integers. mpi_interfaces.inc is made by the wrapper
! compiler, which compiles this file once for each compiler.
module mpi
 use, intrinsic :: iso_c_binding, only: c_ptr
 implicit none
 private :: c_ptr
 include 'mpi_values.inc'
 include 'mpi_handles.inc'
 include 'mpi_sentinels.inc'
 external MPI_NULL_COPY_FN, MPI_DUP_FN, MPI_NULL_DELETE_FN
 external MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN
 external MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN
 external MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN
 include 'mpi_interfaces.inc'
 include 'mpi_sizeof.inc'
end module
