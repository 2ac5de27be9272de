! SPDX-License-Identifier: Apache-2.0
! MPI for Fortran without modules, in fixed and in free form: constants of the
! standard ABI, and the functions that are no subroutines.
      include 'mpi_values.inc'
      include 'mpi_handles.inc'
      include 'mpi_sentinels.inc'
      double precision MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      external MPI_WTIME, MPI_WTICK, PMPI_WTIME, PMPI_WTICK
      integer(8) MPI_AINT_ADD, MPI_AINT_DIFF
      external MPI_AINT_ADD, MPI_AINT_DIFF
      external MPI_NULL_COPY_FN, MPI_DUP_FN, MPI_NULL_DELETE_FN
      external MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN
      external MPI_COMM_NULL_DELETE_FN
      external MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN
      external MPI_TYPE_NULL_DELETE_FN
      external MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN
      external MPI_WIN_NULL_DELETE_FN
