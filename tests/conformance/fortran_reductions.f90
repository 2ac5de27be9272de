! SPDX-License-Identifier: Apache-2.0
! Reductions of every predefined datatype of Fortran, and operations on MPI_LOGICAL and on pairs.
program reductions
  use mpi_f08
  implicit none
  integer :: rank, size, failures = 0, half

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  half = size * (size - 1) / 2
  call integers
  call reals
  call complexes
  call logicals
  call pairs
  call bits
  call MPI_Finalize
  if (failures /= 0) stop 1

contains

  include 'fortran_check.inc'

  subroutine integers
    integer(1) :: a1
    integer(2) :: a2
    integer(4) :: a4
    integer(8) :: a8
    integer(MPI_ADDRESS_KIND) :: address
    integer(MPI_OFFSET_KIND) :: offset
    integer(MPI_COUNT_KIND) :: count
    a1 = int(rank, 1)
    call MPI_Allreduce(MPI_IN_PLACE, a1, 1, MPI_INTEGER1, MPI_MAX, MPI_COMM_WORLD)
    call check(a1 == size - 1, 'MPI_INTEGER1')
    a2 = int(rank, 2)
    call MPI_Allreduce(MPI_IN_PLACE, a2, 1, MPI_INTEGER2, MPI_SUM, MPI_COMM_WORLD)
    call check(a2 == half, 'MPI_INTEGER2')
    a4 = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, a4, 1, MPI_INTEGER4, MPI_MIN, MPI_COMM_WORLD)
    call check(a4 == 1, 'MPI_INTEGER4')
    a8 = 2_8**33
    call MPI_Allreduce(MPI_IN_PLACE, a8, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call check(a8 == size * 2_8**33, 'MPI_INTEGER8')
    address = rank
    call MPI_Allreduce(MPI_IN_PLACE, address, 1, MPI_AINT, MPI_SUM, MPI_COMM_WORLD)
    offset = rank
    call MPI_Allreduce(MPI_IN_PLACE, offset, 1, MPI_OFFSET, MPI_SUM, MPI_COMM_WORLD)
    count = rank
    call MPI_Allreduce(MPI_IN_PLACE, count, 1, MPI_COUNT, MPI_SUM, MPI_COMM_WORLD)
    call check(address == half .and. offset == half .and. count == half, 'MPI_AINT, MPI_OFFSET, MPI_COUNT')
  end subroutine

  subroutine reals
    real :: a
    real(4) :: a4
    real(8) :: a8
    double precision :: d
    real(16) :: a16
    a = 0.5 * rank
    call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    call check(a == 0.5 * half, 'MPI_REAL')
    a4 = 2
    call MPI_Allreduce(MPI_IN_PLACE, a4, 1, MPI_REAL4, MPI_PROD, MPI_COMM_WORLD)
    call check(a4 == 2.0**size, 'MPI_REAL4')
    a8 = -rank
    call MPI_Allreduce(MPI_IN_PLACE, a8, 1, MPI_REAL8, MPI_MIN, MPI_COMM_WORLD)
    call check(a8 == 1 - size, 'MPI_REAL8')
    d = rank
    call MPI_Allreduce(MPI_IN_PLACE, d, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    call check(d == size - 1, 'MPI_DOUBLE_PRECISION')
    a16 = 0.25_16 * rank
    call MPI_Allreduce(MPI_IN_PLACE, a16, 1, MPI_REAL16, MPI_SUM, MPI_COMM_WORLD)
    call check(a16 == 0.25_16 * half, 'MPI_REAL16')
  end subroutine

  subroutine complexes
    complex :: z
    complex(4) :: z4
    complex(8) :: z8, product
    integer :: k
    z = cmplx(rank, -rank)
    call MPI_Allreduce(MPI_IN_PLACE, z, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD)
    call check(z == cmplx(half, -half), 'MPI_COMPLEX')
    z4 = cmplx(0, rank)
    call MPI_Allreduce(MPI_IN_PLACE, z4, 1, MPI_COMPLEX8, MPI_SUM, MPI_COMM_WORLD)
    call check(z4 == cmplx(0, half), 'MPI_COMPLEX8')
    z8 = cmplx(1, rank, 8)
    product = 1
    do k = 0, size - 1
      product = product * cmplx(1, k, 8)
    end do
    call MPI_Allreduce(MPI_IN_PLACE, z8, 1, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD)
    call check(abs(z8 - product) <= 1e-12_8 * abs(product), 'MPI_DOUBLE_COMPLEX')
    z8 = cmplx(rank, 1, 8)
    call MPI_Allreduce(MPI_IN_PLACE, z8, 1, MPI_COMPLEX16, MPI_SUM, MPI_COMM_WORLD)
    call check(z8 == cmplx(half, size, 8), 'MPI_COMPLEX16')
  end subroutine

  subroutine logicals
    logical :: a(4), all_of_them(4), any_of_them(4), odd(4)
    logical(8) :: a8
    a = [rank == 0, .true., .false., rank == size - 1]
    call MPI_Allreduce(a, all_of_them, 4, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD)
    call MPI_Allreduce(a, any_of_them, 4, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD)
    call MPI_Allreduce(a, odd, 4, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD)
    call check(all(all_of_them .eqv. [size == 1, .true., .false., size == 1]), 'MPI_LAND')
    call check(all(any_of_them .eqv. [.true., .true., .false., .true.]), 'MPI_LOR')
    call check(all(odd .eqv. [.true., mod(size, 2) == 1, .false., .true.]), 'MPI_LXOR')
    a8 = rank /= 0
    call MPI_Allreduce(MPI_IN_PLACE, a8, 1, MPI_LOGICAL8, MPI_LOR, MPI_COMM_WORLD)
    call check(logical(a8) .eqv. size > 1, 'MPI_LOGICAL8')
  end subroutine

  subroutine pairs
    integer :: a(2)
    real :: b(2)
    double precision :: c(2)
    a = [mod(rank, 3), rank]
    call MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD)
    call check(all(a == min(size - 1, 2)), 'MPI_2INTEGER')
    b = [abs(rank - 1.0), real(rank)]
    call MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD)
    call check(b(2) == min(size - 1, 1), 'MPI_2REAL')
    c = [1d0, 10d0 + rank]
    call MPI_Allreduce(MPI_IN_PLACE, c, 1, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD)
    call check(all(c == [1d0, 10d0]), 'MPI_2DOUBLE_PRECISION')
  end subroutine

  subroutine bits
    integer :: a(3)
    character :: c
    a = [ibset(0, mod(rank, 31)), not(ibset(0, mod(rank, 31))), 1]
    call MPI_Allreduce(MPI_IN_PLACE, a(1), 1, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, a(2), 1, MPI_INTEGER, MPI_BAND, MPI_COMM_WORLD)
    call MPI_Allreduce(MPI_IN_PLACE, a(3), 1, MPI_INTEGER, MPI_BXOR, MPI_COMM_WORLD)
    call check(popcnt(a(1)) == min(size, 31) .and. a(2) == not(a(1)) .and. a(3) == mod(size, 2), 'bits')
    c = achar(rank)
    call MPI_Bcast(c, 1, MPI_CHARACTER, size - 1, MPI_COMM_WORLD)
    call check(iachar(c) == size - 1, 'MPI_CHARACTER')
  end subroutine
end program
