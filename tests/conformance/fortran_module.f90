! SPDX-License-Identifier: Apache-2.0
! The module mpi: variables of modules, collective operations of all forms, buffers of every type and rank, topologies,
! info, attributes of the size of an address, requests of a program.
module state
  implicit none
  integer :: failures = 0
  integer :: rank, size
  real, allocatable :: field(:, :)
contains
  include 'fortran_check.inc'
end module

module callbacks
  use mpi
  use state
  implicit none
  integer :: deleted = 0, queried = 0, freed = 0
contains
  subroutine copy(comm, key, extra, old, new, flag, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, old, new
    logical :: flag
    call check(comm == MPI_COMM_WORLD .and. key /= MPI_KEYVAL_INVALID, 'arguments of a copy function')
    new = old + extra
    flag = .true.
    ierr = MPI_SUCCESS
  end subroutine

  subroutine delete(comm, key, value, extra, ierr)
    integer :: comm, key, ierr
    integer(MPI_ADDRESS_KIND) :: extra, value
    call check(comm /= MPI_COMM_NULL .and. key /= MPI_KEYVAL_INVALID, 'arguments of a delete function')
    call check(extra == 2_8**40 .and. value > 2_8**40, 'value for a delete function')
    deleted = deleted + 1
    ierr = MPI_SUCCESS
  end subroutine

  ! Products of 2 by 2 matrices do not commute.
  subroutine multiply(from, into, count, type)
    integer :: count, type
    integer(8) :: from(2, 2, count), into(2, 2, count)
    integer :: i
    do i = 1, count
      into(:, :, i) = matmul(from(:, :, i), into(:, :, i))
    end do
    call check(type /= MPI_INTEGER8, 'type of a user operation')
  end subroutine

  subroutine query(extra, status, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: status(MPI_STATUS_SIZE), ierr
    status(MPI_SOURCE) = int(extra)
    status(MPI_TAG) = 9
    call MPI_Status_set_elements(status, MPI_INTEGER, 3, ierr)
    call MPI_Status_set_cancelled(status, .false., ierr)
    queried = queried + 1
  end subroutine

  subroutine release(extra, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    integer :: ierr
    if (extra == 17) freed = freed + 1
    ierr = MPI_SUCCESS
  end subroutine

  subroutine cancel(extra, complete, ierr)
    integer(MPI_ADDRESS_KIND) :: extra
    logical :: complete
    integer :: ierr
    if (extra == 17 .and. .not. complete) freed = freed + 100
    ierr = MPI_SUCCESS
  end subroutine
end module

program module_mpi
  use mpi
  use state
  use callbacks
  implicit none
  integer :: ierr, provided, right, left, length
  integer :: status(MPI_STATUS_SIZE)

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierr)
  call check(provided >= MPI_THREAD_FUNNELED, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  right = mod(rank + 1, size)
  left = mod(rank + size - 1, size)
  call buffers
  call collectives
  call later
  call operations
  call grids
  call attributes
  call texts
  call requests_of_programs
  call sizes
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1

contains

  ! Scalars, arrays of any rank, sections, texts, allocated memory.
  subroutine buffers
    character(len=5) :: word
    real(8) :: number
    integer(MPI_ADDRESS_KIND) :: memory
    allocate(field(0:3, 6))
    field = real(rank)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call check(all(field == real(rank)), 'a variable of a module is private')
    call MPI_Sendrecv(field(1, :), 6, MPI_REAL, right, 1, field(2:3, 1:3), 6, MPI_REAL, left, 1, MPI_COMM_WORLD, status, &
                      ierr)
    call check(all(field(2:3, 1:3) == real(left)) .and. all(field(0:1, :) == real(rank)), 'sections of an array')
    word = 'a b c'
    call MPI_Bcast(word, len(word), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    number = rank
    call MPI_Bcast(number, 1, MPI_REAL8, size - 1, MPI_COMM_WORLD, ierr)
    call check(word == 'a b c' .and. number == size - 1, 'MPI_Bcast')
    call MPI_Alloc_mem(64_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory, ierr)
    call check(ierr == MPI_SUCCESS .and. memory /= 0, 'MPI_Alloc_mem')
    call MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, status, ierr)
    call check(status(MPI_SOURCE) == MPI_PROC_NULL, 'MPI_PROC_NULL')
  end subroutine

  subroutine collectives
    integer :: one(2), all_of_it(2, size), counts(size), places(size), types(size), k
    one = [rank, -rank]
    all_of_it = 0
    call MPI_Gather(one, 2, MPI_INTEGER, all_of_it, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    if (rank == 0) call check(all(all_of_it(1, :) == [(k, k = 0, size - 1)]), 'MPI_Gather')
    all_of_it(:, rank + 1) = one
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of_it, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(all_of_it(2, :) == [(-k, k = 0, size - 1)]), 'MPI_Allgather in place')
    counts = 2
    places = [(2 * (size - 1 - k), k = 0, size - 1)]
    call MPI_Allgatherv(one, 2, MPI_INTEGER, all_of_it, counts, places, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call check(all(all_of_it(1, :) == [(size - 1 - k, k = 0, size - 1)]), 'MPI_Allgatherv')
    do k = 1, size
      all_of_it(:, k) = [rank, k]
    end do
    types = MPI_INTEGER
    places = [(8 * k, k = 0, size - 1)]
    call alltoallw(all_of_it, counts, places, types)
    call MPI_Scan(rank, k, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(k == rank * (rank + 1) / 2, 'MPI_Scan')
    call MPI_Reduce_scatter_block([(k, k = 1, size)], k, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(k == size * (rank + 1), 'MPI_Reduce_scatter_block')
  end subroutine

  subroutine alltoallw(from, counts, places, types)
    integer, intent(in) :: from(2, size), counts(size), places(size), types(size)
    integer :: into(2, size), k, request
    into = 0
    call MPI_Alltoallw(from, counts, places, types, into, counts, places, types, MPI_COMM_WORLD, ierr)
    call check(all(into(1, :) == [(k, k = 0, size - 1)]) .and. all(into(2, :) == rank + 1), 'MPI_Alltoallw')
    into = 0
    call MPI_Ialltoallw(from, counts, places, types, into, counts, places, types, MPI_COMM_WORLD, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    call check(all(into(1, :) == [(k, k = 0, size - 1)]) .and. request == MPI_REQUEST_NULL, 'MPI_Ialltoallw')
  end subroutine

  ! Requests that last, and tests of several.
  subroutine later
    integer, asynchronous :: given(3), got(3)
    integer :: requests(6), indices(6), statuses(MPI_STATUS_SIZE, 6), done, n, k, round
    logical :: flag
    do k = 1, 3
      call MPI_Recv_init(got(k), 1, MPI_INTEGER, left, k, MPI_COMM_WORLD, requests(k), ierr)
      call MPI_Send_init(given(k), 1, MPI_INTEGER, right, k, MPI_COMM_WORLD, requests(3 + k), ierr)
    end do
    do round = 1, 3
      given = [rank, 2 * rank, 3 * rank] + round
      call MPI_Startall(6, requests, ierr)
      done = 0
      do while (done < 6)
        call MPI_Waitsome(6, requests, n, indices, statuses, ierr)
        call check(n >= 1 .and. all(indices(:n) >= 1) .and. all(indices(:n) <= 6), 'MPI_Waitsome')
        do k = 1, n
          if (indices(k) <= 3) call check(statuses(MPI_TAG, k) == indices(k), 'status of one of several')
        end do
        done = done + n
      end do
      call check(all(got == [left, 2 * left, 3 * left] + round), 'persistent requests')
    end do
    call MPI_Testall(6, requests, flag, MPI_STATUSES_IGNORE, ierr)
    call check(flag, 'MPI_Testall of inactive requests')
    do k = 1, 6
      call MPI_Request_free(requests(k), ierr)
    end do
    call check(all(requests == MPI_REQUEST_NULL), 'MPI_Request_free')
    call MPI_Irecv(got, 3, MPI_INTEGER, MPI_ANY_SOURCE, 99, MPI_COMM_SELF, requests(1), ierr)
    call MPI_Cancel(requests(1), ierr)
    call MPI_Wait(requests(1), status, ierr)
    call MPI_Test_cancelled(status, flag, ierr)
    call check(flag, 'MPI_Cancel')
  end subroutine

  subroutine operations
    integer(8) :: matrix(2, 2), product(2, 2), expected(2, 2)
    integer :: type, op, k
    logical :: commutes
    call MPI_Type_contiguous(4, MPI_INTEGER8, type, ierr)
    call MPI_Type_commit(type, ierr)
    call MPI_Op_create(multiply, .false., op, ierr)
    call MPI_Op_commutative(op, commutes, ierr)
    call check(.not. commutes, 'MPI_Op_commutative')
    matrix = reshape([1, rank, 1, rank + 1], [2, 2])
    expected = reshape([1, 0, 0, 1], [2, 2])
    do k = 0, size - 1
      expected = matmul(expected, reshape(int([1, k, 1, k + 1], 8), [2, 2]))
    end do
    call MPI_Allreduce(matrix, product, 1, type, op, MPI_COMM_WORLD, ierr)
    call check(all(product == expected), 'a user operation that does not commute')
    call MPI_Op_free(op, ierr)
    call MPI_Type_free(type, ierr)
  end subroutine

  subroutine grids
    integer :: dims(2), coords(2), grid, from, to, counts(4), types(4), given(4), got(4), n, graph, weights(2)
    integer(MPI_ADDRESS_KIND) :: places(4)
    logical :: periods(2), weighted
    dims = 0
    call MPI_Dims_create(size, 2, dims, ierr)
    periods = [.true., .false.]
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
    periods = .false.
    call MPI_Cart_get(grid, 2, dims, periods, coords, ierr)
    call check(periods(1) .and. .not. periods(2), 'MPI_Cart_get')
    call MPI_Cart_shift(grid, 1, 1, from, to, ierr)
    call check((to == MPI_PROC_NULL) .eqv. coords(2) == dims(2) - 1, 'MPI_Cart_shift')
    counts = 1
    types = MPI_INTEGER
    places = [0, 4, 8, 12]
    given = rank
    got = -1
    call MPI_Neighbor_alltoallw(given, counts, places, types, got, counts, places, types, grid, ierr)
    call check(got(3) == from .or. from == MPI_PROC_NULL, 'MPI_Neighbor_alltoallw')
    call MPI_Comm_free(grid, ierr)
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [left], MPI_UNWEIGHTED, 1, [right], MPI_UNWEIGHTED, MPI_INFO_NULL, &
                                        .false., graph, ierr)
    call MPI_Dist_graph_neighbors_count(graph, n, to, weighted, ierr)
    call check(n == 1 .and. to == 1 .and. .not. weighted, 'MPI_UNWEIGHTED')
    call MPI_Dist_graph_neighbors(graph, 1, weights(1:1), MPI_UNWEIGHTED, 1, weights(2:2), MPI_UNWEIGHTED, ierr)
    call check(all(weights == [left, right]), 'MPI_Dist_graph_neighbors')
    call MPI_Comm_free(graph, ierr)
  end subroutine

  subroutine attributes
    integer :: key, comm
    integer(MPI_ADDRESS_KIND) :: value
    logical :: flag
    call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, value, flag, ierr)
    call check(flag .and. value == size, 'MPI_UNIVERSE_SIZE')
    call MPI_Comm_create_keyval(copy, delete, key, 2_MPI_ADDRESS_KIND**40, ierr)
    call MPI_Comm_get_attr(MPI_COMM_WORLD, key, value, flag, ierr)
    call check(.not. flag, 'no attribute')
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 2_MPI_ADDRESS_KIND**40 + rank + 1, ierr)
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
    call MPI_Comm_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == 2_8**41 + rank + 1, 'copied attribute')
    call MPI_Comm_free(comm, ierr)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key, ierr)
    call check(deleted == 2, 'delete function')
    call MPI_Comm_free_keyval(key, ierr)
    call check(key == MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')
    call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_set_attr(MPI_REAL, key, -5_MPI_ADDRESS_KIND, ierr)
    call MPI_Type_dup(MPI_REAL, comm, ierr)
    call MPI_Type_get_attr(comm, key, value, flag, ierr)
    call check(flag .and. value == -5, 'MPI_TYPE_DUP_FN')
    call MPI_Type_free(comm, ierr)
    call MPI_Type_delete_attr(MPI_REAL, key, ierr)
  end subroutine

  subroutine texts
    integer :: info, n, comm
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=MPI_MAX_INFO_KEY) :: key
    character(len=6) :: short
    logical :: flag
    call MPI_Comm_dup(MPI_COMM_SELF, comm, ierr)
    call MPI_Comm_set_name(comm, '  two words  ', ierr)
    call MPI_Comm_get_name(comm, name, length, ierr)
    call check(name == '  two words' .and. length == 11, 'MPI_Comm_get_name')
    call MPI_Comm_free(comm, ierr)
    call MPI_Info_create(info, ierr)
    call MPI_Info_set(info, ' colour ', ' dark red  ', ierr)
    short = 'other'
    call MPI_Info_get(info, 'color', 6, short, flag, ierr)
    call check(.not. flag .and. short == 'other', 'no such key')
    call MPI_Info_get(info, 'colour', 6, short, flag, ierr)
    call check(flag .and. short == 'dark r', 'MPI_Info_get')
    n = 0
    call MPI_Info_get_string(info, 'colour', n, short, flag, ierr)
    call check(flag .and. n == 8, 'MPI_Info_get_string')
    n = len(name)
    call MPI_Info_get_string(info, 'colour', n, name, flag, ierr)
    call check(flag .and. n == 8 .and. name == 'dark red', 'value of MPI_Info_get_string')
    call MPI_Info_get_nthkey(info, 0, key, ierr)
    call check(key == 'colour', 'MPI_Info_get_nthkey')
    call MPI_Info_free(info, ierr)
    call check(info == MPI_INFO_NULL, 'MPI_Info_free')
  end subroutine

  subroutine requests_of_programs
    integer :: request, n
    logical :: flag
    call MPI_Grequest_start(query, release, cancel, 17_MPI_ADDRESS_KIND, request, ierr)
    call MPI_Test(request, flag, status, ierr)
    call check(.not. flag, 'MPI_Test of an open request')
    call MPI_Cancel(request, ierr)
    call MPI_Grequest_complete(request, ierr)
    call MPI_Wait(request, status, ierr)
    call MPI_Get_elements(status, MPI_INTEGER, n, ierr)
    call check(status(MPI_SOURCE) == 17 .and. status(MPI_TAG) == 9 .and. n == 3, 'status of a generalized request')
    call check(queried == 1 .and. freed == 101, 'procedures of a generalized request')
  end subroutine

  subroutine sizes
    complex(8) :: z(3)
    integer(MPI_ADDRESS_KIND) :: a, b
    integer :: n, type, again, k, m, combiner, asked(2), none(1)
    integer(MPI_ADDRESS_KIND) :: nowhere(1)
    integer(selected_int_kind(15)) :: i, total
    call MPI_Sizeof(z, n, ierr)
    call check(n == 16, 'MPI_Sizeof')
    call MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, type, ierr)
    call MPI_Type_size(type, n, ierr)
    call check(n == 8, 'MPI_Type_match_size')
    call MPI_Type_create_f90_integer(15, type, ierr)
    call MPI_Type_create_f90_integer(15, again, ierr)
    i = 10_8**14 + rank
    call MPI_Allreduce(i, total, 1, type, MPI_SUM, MPI_COMM_WORLD, ierr)
    call check(total == size * 10_8**14 + size * (size - 1) / 2 .and. type == again, 'MPI_Type_create_f90_integer')
    call MPI_Type_create_f90_real(10, 30, type, ierr)
    call MPI_Type_get_envelope(type, n, k, m, combiner, ierr)
    call check(combiner == MPI_COMBINER_F90_REAL .and. n == 2 .and. k == 0 .and. m == 0, 'envelope of a real type')
    call MPI_Type_get_contents(type, n, k, m, asked, nowhere, none, ierr)
    call check(all(asked == [10, 30]), 'contents of a real type')
    call MPI_Get_address(z(1), a, ierr)
    call MPI_Get_address(z(3), b, ierr)
    call check(MPI_Aint_diff(b, a) == 32 .and. MPI_Aint_add(a, 32_MPI_ADDRESS_KIND) == b, 'MPI_Aint_diff')
    call check(MPI_Wtick() > 0 .and. MPI_Wtime() > 0, 'MPI_Wtick')
  end subroutine
end program
