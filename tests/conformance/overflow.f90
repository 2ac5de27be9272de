! SPDX-License-Identifier: Apache-2.0
! A rank that uses up its stack; see fortran.cmake.
recursive real(8) function deep(n) result(total)
  implicit none
  integer, intent(in) :: n
  real(8) :: room(1000)
  interface
    recursive real(8) function deeper(n) result(total)
      integer, intent(in) :: n
    end function
  end interface
  room = n
  total = deeper(n + 1) + sum(room)
end function

recursive real(8) function deeper(n) result(total)
  implicit none
  integer, intent(in) :: n
  real(8), external :: deep
  total = deep(n) + n
end function

program overflow
  use mpi
  implicit none
  integer :: ierr
  real(8), external :: deep
  call MPI_Init(ierr)
  print *, deep(1)
  call MPI_Finalize(ierr)
end program
