! SPDX-License-Identifier: Apache-2.0
! The module mpi_f08: handles and statuses with types of their own, absent ierror, large counts, comparisons, procedures
! with checked interfaces, memory by C_PTR; and a subroutine with mpif.h in the same program.
module state
  implicit none
  integer, save :: failures = 0, rank, size
contains
  include 'fortran_check.inc'
end module

module callbacks
  use mpi_f08
  use state
  use, intrinsic :: iso_c_binding
  implicit none
  type(MPI_Comm) :: failed_in = MPI_COMM_NULL
  integer :: failed_with = 0
contains
  subroutine largest(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    real(8), pointer :: from(:), into(:)
    call check(datatype == MPI_DOUBLE_PRECISION, 'type of a user operation')
    call c_f_pointer(invec, from, [len])
    call c_f_pointer(inoutvec, into, [len])
    where (abs(from) > abs(into)) into = from
  end subroutine

  subroutine sum_many(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer(MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), into(:)
    call check(datatype == MPI_INTEGER, 'type of an operation with large counts')
    call c_f_pointer(invec, from, [len])
    call c_f_pointer(inoutvec, into, [len])
    into = into + from
  end subroutine

  subroutine failed(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    failed_in = comm
    failed_with = error_code
  end subroutine

  subroutine copy(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    flag = oldcomm == MPI_COMM_WORLD .and. comm_keyval > 0
    attribute_val_out = extra_state * attribute_val_in
    ierror = MPI_SUCCESS
  end subroutine
end module

! What old code in the same program does.
integer function ranks_below(comm, rank)
  implicit none
  include 'mpif.h'
  integer comm, rank, ierr
  ranks_below = -1
  call MPI_EXSCAN(1, ranks_below, 1, MPI_INTEGER, MPI_SUM, comm, ierr)
  if (rank == 0) ranks_below = 0
end function

program types
  use mpi_f08
  use state
  use callbacks
  implicit none
  type :: particle
    sequence
    real(8) :: place(3)
    integer :: kind
    character(len=4) :: name
  end type
  integer :: right, left, ierr
  integer, external :: ranks_below

  call MPI_Init
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call check(ranks_below(MPI_COMM_WORLD%MPI_VAL, rank) == rank, 'mpif.h beside mpi_f08')
  call messages
  call matched
  call structures
  call reductions
  call communicators
  call memory
  call MPI_Finalize(ierr)
  if (failures /= 0 .or. ierr /= MPI_SUCCESS) stop 1

contains

  subroutine messages
    type(MPI_Request) :: requests(2)
    type(MPI_Status) :: status, statuses(2)
    integer :: got(4), n, old(MPI_STATUS_SIZE)
    integer(MPI_COUNT_KIND) :: large
    logical :: flag
    call MPI_Irecv(got, 4, MPI_INTEGER, left, MPI_ANY_TAG, MPI_COMM_WORLD, requests(1))
    call MPI_Isend([rank, 2, 3], 3_MPI_COUNT_KIND, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, statuses)
    call check(all(got(:3) == [left, 2, 3]), 'MPI_Waitall')
    call check(statuses(1)%MPI_SOURCE == left .and. statuses(1)%MPI_TAG == 5, 'parts of a status')
    call check(requests(1) == MPI_REQUEST_NULL .and. .not. requests(2) /= MPI_REQUEST_NULL, 'comparison of requests')
    call MPI_Get_count(statuses(1), MPI_INTEGER, n)
    call MPI_Get_count(statuses(1), MPI_INTEGER, large)
    call check(n == 3 .and. large == 3, 'MPI_Get_count')
    call MPI_Status_f082f(statuses(1), old)
    call MPI_Status_f2f08(old, status)
    call check(old(MPI_SOURCE) == left .and. status%MPI_TAG == 5, 'MPI_Status_f082f')
    call MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE)
    call check(.not. flag, 'MPI_Iprobe')
    call MPI_Sendrecv_replace(got(1), 1, MPI_INTEGER, left, 6, right, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(got(1) == rank, 'MPI_Sendrecv_replace')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  end subroutine

  subroutine matched
    type(MPI_Message) :: message
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    character(len=6) :: text
    call MPI_Isend('hello ', 6, MPI_CHARACTER, right, 8, MPI_COMM_WORLD, request)
    call MPI_Mprobe(left, 8, MPI_COMM_WORLD, message, status)
    call check(message /= MPI_MESSAGE_NULL, 'MPI_Mprobe')
    call MPI_Mrecv(text, 6, MPI_CHARACTER, message, status)
    call check(text == 'hello' .and. message == MPI_MESSAGE_NULL, 'MPI_Mrecv')
    call MPI_Wait(request, MPI_STATUS_IGNORE)
  end subroutine

  subroutine structures
    type(particle) :: mine(2), theirs(2)
    type(MPI_Datatype) :: type, resized, types(3), kinds(3)
    integer(MPI_ADDRESS_KIND) :: places(3), base, lower, extent, addresses(3)
    integer :: lengths(3), n, k, m, combiner, integers(4)
    mine = [particle([1, 2, 3] + rank, 4, 'one '), particle([5, 6, 7] + rank, 8, 'two ')]
    call MPI_Get_address(mine(1), base)
    call MPI_Get_address(mine(1)%place, places(1))
    call MPI_Get_address(mine(1)%kind, places(2))
    call MPI_Get_address(mine(1)%name, places(3))
    lengths = [3, 1, 4]
    types = [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_CHARACTER]
    call MPI_Type_create_struct(3, lengths, places - base, types, type)
    call MPI_Type_create_resized(type, 0_MPI_ADDRESS_KIND, storage_size(mine(1), MPI_ADDRESS_KIND) / 8, resized)
    call MPI_Type_commit(resized)
    call MPI_Sendrecv(mine, 2, resized, right, 1, theirs, 2, resized, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(theirs(2)%place == [5, 6, 7] + left) .and. theirs(1)%name == 'one', 'structures')
    call MPI_Type_get_extent(resized, lower, extent)
    call check(extent == storage_size(mine(1)) / 8, 'MPI_Type_get_extent')
    call MPI_Type_get_envelope(type, n, k, m, combiner)
    call check(combiner == MPI_COMBINER_STRUCT .and. m == 3, 'MPI_Type_get_envelope')
    call MPI_Type_get_contents(type, n, k, m, integers, addresses, kinds)
    call check(kinds(1) == MPI_DOUBLE_PRECISION .and. kinds(3) == MPI_CHARACTER, 'MPI_Type_get_contents')
    call MPI_Type_free(resized)
    call MPI_Type_free(type)
    call check(type == MPI_DATATYPE_NULL, 'MPI_Type_free')
  end subroutine

  subroutine reductions
    type(MPI_Op) :: op
    type(MPI_Request) :: request
    real(8) :: a(2), b(2)
    complex(8) :: z
    integer :: n
    call MPI_Op_create(largest, .true., op)
    a = [-rank, rank]
    call MPI_Allreduce(a, b, 2, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD)
    call check(b(1) == 1 - size .and. b(2) == size - 1, 'user operation')
    call MPI_Iallreduce(MPI_IN_PLACE, a, 2_MPI_COUNT_KIND, MPI_DOUBLE_PRECISION, op, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call check(all(a == b), 'large count, in place')
    call MPI_Op_free(op)
    call MPI_Op_create_c(sum_many, .true., op)
    call MPI_Allreduce(1, n, 1, MPI_INTEGER, op, MPI_COMM_WORLD)
    call check(n == size, 'operation with large counts')
    call MPI_Op_free(op)
    z = cmplx(0, rank, 8)
    if (rank == 0) then
      call MPI_Reduce(MPI_IN_PLACE, z, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD)
      call check(z == cmplx(0, size * (size - 1) / 2, 8), 'MPI_DOUBLE_COMPLEX')
    else
      call MPI_Reduce(z, z, 1, MPI_DOUBLE_COMPLEX, MPI_SUM, 0, MPI_COMM_WORLD)
    end if
    n = rank
    call MPI_Bcast(n, count=1, datatype=MPI_INTEGER, root=size - 1, comm=MPI_COMM_WORLD, ierror=ierr)
    call check(n == size - 1 .and. ierr == MPI_SUCCESS, 'arguments by name')
  end subroutine

  subroutine communicators
    type(MPI_Comm) :: half, copied
    type(MPI_Group) :: group
    type(MPI_Errhandler) :: handler, found
    integer :: n, key
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Comm_group(half, group)
    call MPI_Group_size(group, n)
    call check(n == (size + 1 - mod(rank, 2)) / 2, 'MPI_Comm_split')
    call MPI_Group_free(group)
    call MPI_Comm_create_errhandler(failed, handler)
    call MPI_Comm_set_errhandler(half, handler)
    call MPI_Comm_get_errhandler(half, found)
    call check(found == handler, 'MPI_Comm_get_errhandler')
    call MPI_Send(n, 1, MPI_INTEGER, -99, 0, half, ierr)
    call check(ierr == MPI_ERR_RANK .and. failed_with == ierr .and. failed_in == half, 'error handler')
    call MPI_Comm_free(half)
    call check(half == MPI_COMM_NULL, 'MPI_Comm_free')
    call MPI_Errhandler_free(handler)
    call MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, key, 3_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 7_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, copied)
    call MPI_Comm_get_attr(copied, key, value, flag)
    call check(flag .and. value == 21, 'copied attribute')
    call MPI_Comm_free(copied)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Get_library_version(version, n)
    call check(n > 0 .and. len_trim(version) == n, 'MPI_Get_library_version')
  end subroutine

  subroutine memory
    type(c_ptr) :: at, detached
    integer, pointer :: values(:)
    character, target :: room(2 * MPI_BSEND_OVERHEAD)
    integer :: bytes, got
    call MPI_Alloc_mem(40_MPI_ADDRESS_KIND, MPI_INFO_NULL, at)
    call c_f_pointer(at, values, [10])
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 10, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call check(all(values == size - 1), 'MPI_Alloc_mem')
    call MPI_Free_mem(values)
    call MPI_Buffer_attach(room, storage_size(room) / 8 * 2 * MPI_BSEND_OVERHEAD)
    call MPI_Bsend(rank, 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD)
    call MPI_Recv(got, 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call MPI_Buffer_detach(detached, bytes)
    call check(got == left .and. c_associated(detached, c_loc(room)), 'MPI_Buffer_detach')
    call MPI_Sizeof(got, bytes)
    call check(bytes == 4, 'MPI_Sizeof')
  end subroutine
end program
