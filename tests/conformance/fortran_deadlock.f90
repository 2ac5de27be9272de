! SPDX-License-Identifier: Apache-2.0
! Comes to a stop: run by tests/cluster/mpi_ranks_test.cpp.
program fortran_deadlock
  use mpi
  implicit none
  integer :: ierror, rank, x
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) then
    call MPI_Recv(x, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  else
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end if
  call MPI_Finalize(ierror)
end program
