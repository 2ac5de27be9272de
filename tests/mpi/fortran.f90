! SPDX-License-Identifier: Apache-2.0
! Fortran's functions are behind the lock, too: three threads of each process exchange numbers with their like.
program fortran
  implicit none
  include 'mpif.h'
  integer, parameter :: threads = 3, rounds = 200
  integer :: provided, rank, code, thread, wrong

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  wrong = 0
  !$omp parallel do num_threads(threads) schedule(static, 1) reduction(+:wrong)
  do thread = 1, threads
    wrong = exchanged(rank, thread)
  end do
  !$omp end parallel do
  call MPI_Barrier(MPI_COMM_WORLD, code)
  if (provided == MPI_THREAD_MULTIPLE .and. wrong == 0) print '(a)', 'all numbers arrived'
  call MPI_Finalize(code)

contains

  integer function exchanged(rank, thread)
    integer, intent(in) :: rank, thread
    integer :: i, out, in, code, request, status(MPI_STATUS_SIZE)
    exchanged = 0
    do i = 1, rounds
      out = 1000 * i + 10 * thread + rank
      call MPI_Isend(out, 1, MPI_INTEGER, 1 - rank, thread, MPI_COMM_WORLD, request, code)
      call MPI_Recv(in, 1, MPI_INTEGER, 1 - rank, thread, MPI_COMM_WORLD, status, code)
      call MPI_Wait(request, MPI_STATUS_IGNORE, code)
      if (in /= out + 1 - 2 * rank .or. status(MPI_SOURCE) /= 1 - rank) exchanged = exchanged + 1
    end do
  end function

end program
