! SPDX-License-Identifier: Apache-2.0
! Input and output of Fortran: each rank has units, files, the arguments of the program and errors of its own.
program units
  use mpi
  implicit none
  integer :: rank, size, ierr, i, n, length, unit, failures = 0
  integer, parameter :: lines = 2000
  character(len=256) :: name, folder, other
  logical :: opened

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  call get_environment_variable('TMPDIR', folder, length, i)
  if (i /= 0 .or. length == 0) folder = '/tmp'
  call get_command_argument(0, other)
  call check(len_trim(other) > 0, 'the name of the program')

  ! The same unit, a file for each rank, used in turns.
  write (name, '(2a, i0, a, i0)') trim(folder), '/shoal-units-', size, '-', rank
  open (10, file=trim(name), status='replace', action='readwrite', form='formatted')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  do i = 1, lines
    write (10, '(2i8)') rank, i
    if (mod(i, 100) == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  inquire (10, name=other)
  call check(other == name, 'the name of the file of unit 10')
  rewind (10)
  do i = 1, lines
    read (10, '(2i8)', iostat=ierr) n, length
    if (ierr /= 0) exit
    call check(n == rank .and. length == i, 'a line of another rank')
    if (mod(i, 500) == 0) call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call check(ierr == 0, 'the end came early')
  ! A rank that closes its unit closes nobody else's.
  if (mod(rank, 2) == 0) close (10, status='delete')
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  inquire (10, opened=opened)
  call check(opened .eqv. mod(rank, 2) == 1, 'a unit that another rank has closed')
  if (opened) close (10, status='delete')

  ! Units that the library numbers, and files in memory of this rank alone.
  open (newunit=unit, status='scratch', form='unformatted')
  write (unit) [(rank * i, i = 1, 1000)]
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  rewind (unit)
  call check_numbers(unit)
  close (unit)
  write (*, '(a, i0)') 'a line of rank ', rank

  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1

contains

  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    if (failures < 5) write (0, *) 'rank ', rank, ': ', what
    failures = failures + 1
  end subroutine

  subroutine check_numbers(unit)
    integer, intent(in) :: unit
    integer :: numbers(1000), k
    read (unit) numbers
    call check(all(numbers == [(rank * k, k = 1, 1000)]), 'numbers of another rank')
  end subroutine
end program
