! SPDX-License-Identifier: Apache-2.0
! Ranks that stop in a debugger at their first statement, and have a variable of a module each.
module of_rank
  implicit none
  integer :: number = -1
end module

program ranks_debug
  use mpi
  use of_rank
  implicit none
  integer :: error
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, number, error)
  call mpi_barrier(mpi_comm_world, error)
  if (number == 1) call mpi_abort(mpi_comm_world, 7, error)
  call mpi_finalize(error)
end program
