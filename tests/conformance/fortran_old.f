! SPDX-License-Identifier: Apache-2.0
! MPI as programs in fixed form use it, with mpif.h: COMMON and SAVE variables of a rank's own, messages, collective
! operations, datatypes, an operation and attributes of the program.
      subroutine check(ok, what)
      implicit none
      logical ok
      character*(*) what
      include 'mpif.h'
      integer rank, failures, ierr
      common /results/ failures
      if (ok) return
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      print *, 'rank ', rank, ': ', what
      failures = failures + 1
      end

      integer function counted()
      implicit none
      integer calls
      save calls
      data calls /0/
      calls = calls + 1
      counted = calls
      end

! The larger of the absolute values.
      subroutine largest(from, into, count, type)
      implicit none
      integer count, type, i
      integer from(count), into(count)
      include 'mpif.h'
      call check(type .eq. MPI_INTEGER, 'type of a user operation')
      do 10 i = 1, count
        if (abs(from(i)) .gt. abs(into(i))) into(i) = from(i)
 10   continue
      end

      subroutine copied(comm, key, extra, old, new, flag, ierr)
      implicit none
      integer comm, key, extra, old, new, ierr
      logical flag
      new = old + extra
      flag = .true.
      ierr = 0
      end

      subroutine failed(comm, code)
      implicit none
      integer comm, code, seen, comm_seen
      common /errors/ seen, comm_seen
      seen = code
      comm_seen = comm
      end

      program old
      implicit none
      include 'mpif.h'
      integer rank, size, ierr, i, right, left, failures, got
      integer seen, comm_seen
      integer status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
      integer requests(4), values(6), more(6), index, count, op, comm
      integer key, type, handler, length
      integer group, sub, position, packed(64)
      integer (kind=MPI_ADDRESS_KIND) extent, lower
      logical flag
      double precision matrix(4, 4), time
      real pairs(2), best(2)
      complex z, w
      character*(MPI_MAX_PROCESSOR_NAME) name
      character*(MPI_MAX_ERROR_STRING) text
      character*4 letters
      integer counted
      external counted, largest, copied, failed
      common /results/ failures
      common /errors/ seen, comm_seen

      call MPI_INIT(ierr)
      call check(ierr .eq. MPI_SUCCESS, 'MPI_INIT')
      time = MPI_WTIME()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, size, ierr)
      right = mod(rank + 1, size)
      left = mod(rank + size - 1, size)
      call MPI_INITIALIZED(flag, ierr)
      call check(flag, 'MPI_INITIALIZED')
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call check(counted() .eq. 1, 'SAVE is private')
      call MPI_BARRIER(MPI_COMM_WORLD, ierr)
      call check(counted() .eq. 2, 'SAVE is kept')

! Messages, with and without a status.
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, right, 7, got, 1,
     &  MPI_INTEGER, left, 7, MPI_COMM_WORLD, status, ierr)
      call check(got .eq. left, 'MPI_SENDRECV')
      call check(status(MPI_SOURCE) .eq. left, 'source')
      call check(status(MPI_TAG) .eq. 7, 'tag')
      call MPI_GET_COUNT(status, MPI_INTEGER, count, ierr)
      call check(count .eq. 1, 'MPI_GET_COUNT')
      call MPI_SENDRECV(rank, 1, MPI_INTEGER, left, 8, got, 1,
     &  MPI_INTEGER, right, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call check(got .eq. right, 'MPI_STATUS_IGNORE')

! Several requests; the first index is 1.
      do 20 i = 1, 4
        call MPI_IRECV(more(i), 1, MPI_INTEGER, left, 10 + i,
     &    MPI_COMM_WORLD, requests(i), ierr)
 20   continue
      do 30 i = 1, 4
        values(i) = 100 * rank + i
        call MPI_SEND(values(i), 1, MPI_INTEGER, right, 10 + i,
     &    MPI_COMM_WORLD, ierr)
 30   continue
      call MPI_WAITANY(4, requests, index, status, ierr)
      call check(index .ge. 1 .and. index .le. 4, 'index')
      call check(requests(index) .eq. MPI_REQUEST_NULL, 'request')
      call check(status(MPI_TAG) .eq. 10 + index, 'tag of any')
      call MPI_WAITALL(4, requests, statuses, ierr)
      do 40 i = 1, 4
        call check(more(i) .eq. 100 * left + i, 'MPI_WAITALL')
        if (i .ne. index) call check(statuses(MPI_TAG, i) .eq. 10 + i,
     &    'array of statuses')
 40   continue
      call MPI_WAITANY(4, requests, index, status, ierr)
      call check(index .eq. MPI_UNDEFINED, 'no request')
      call MPI_WAITALL(4, requests, MPI_STATUSES_IGNORE, ierr)

! Reductions of Fortran's types.
      values(1) = rank + 1
      call MPI_ALLREDUCE(MPI_IN_PLACE, values, 1, MPI_INTEGER, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      call check(values(1) .eq. size * (size + 1) / 2, 'in place')
      z = cmplx(1.0, real(rank))
      call MPI_ALLREDUCE(z, w, 1, MPI_COMPLEX, MPI_SUM,
     &  MPI_COMM_WORLD, ierr)
      call check(w .eq. cmplx(real(size), real(size * (size - 1) / 2)),
     &  'MPI_COMPLEX')
      call MPI_ALLREDUCE(rank .eq. 0, flag, 1, MPI_LOGICAL, MPI_LAND,
     &  MPI_COMM_WORLD, ierr)
      call check(flag .eqv. size .eq. 1, 'MPI_LAND')
      call MPI_ALLREDUCE(rank .eq. 0, flag, 1, MPI_LOGICAL, MPI_LOR,
     &  MPI_COMM_WORLD, ierr)
      call check(flag, 'MPI_LOR')
      pairs(1) = real(mod(rank, 2))
      pairs(2) = real(rank)
      call MPI_ALLREDUCE(pairs, best, 1, MPI_2REAL, MPI_MAXLOC,
     &  MPI_COMM_WORLD, ierr)
      call check(best(2) .eq. real(min(1, size - 1)), 'MPI_2REAL')
      call MPI_OP_CREATE(largest, .true., op, ierr)
      values(1) = -rank
      values(2) = rank - 3
      call MPI_ALLREDUCE(values, more, 2, MPI_INTEGER, op,
     &  MPI_COMM_WORLD, ierr)
      call check(more(1) .eq. 1 - size, 'user operation')
      call MPI_OP_FREE(op, ierr)
      call check(op .eq. MPI_OP_NULL, 'MPI_OP_FREE')

! A row of a matrix, and a structure relative to MPI_BOTTOM.
      do 50 i = 1, 4
        matrix(2, i) = rank + i
 50   continue
      call MPI_TYPE_VECTOR(4, 1, 4, MPI_DOUBLE_PRECISION, type, ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      call MPI_BCAST(matrix(2, 1), 1, type, 0, MPI_COMM_WORLD, ierr)
      call check(matrix(2, 4) .eq. 4.0d0, 'vector')
      call MPI_TYPE_GET_EXTENT(type, lower, extent, ierr)
      call check(lower .eq. 0 .and. extent .eq. 104, 'extent')
      call MPI_TYPE_FREE(type, ierr)
      call check(type .eq. MPI_DATATYPE_NULL, 'MPI_TYPE_FREE')
      call bottom(rank)

      call removed(rank, failed)

! Packing, texts, groups.
      letters = 'shoa'
      position = 0
      call MPI_PACK(letters, 4, MPI_CHARACTER, packed, 256, position,
     &  MPI_COMM_WORLD, ierr)
      letters = ' '
      position = 0
      call MPI_UNPACK(packed, 256, position, letters, 4, MPI_CHARACTER,
     &  MPI_COMM_WORLD, ierr)
      call check(letters .eq. 'shoa', 'MPI_UNPACK')
      call MPI_GET_PROCESSOR_NAME(name, length, ierr)
      call check(len_trim(name) .eq. length, 'processor name')
      call MPI_ERROR_STRING(MPI_ERR_RANK, text, length, ierr)
      call check(text(1:12) .eq. 'MPI_ERR_RANK', 'MPI_ERROR_STRING')
      call MPI_COMM_GROUP(MPI_COMM_WORLD, group, ierr)
      values(1) = 0
      call MPI_GROUP_INCL(group, 1, values, sub, ierr)
      call MPI_COMM_CREATE(MPI_COMM_WORLD, sub, comm, ierr)
      call check((comm .ne. MPI_COMM_NULL) .eqv. rank .eq. 0, 'create')

! Attributes of MPI-1, an error handler.
      call MPI_ATTR_GET(MPI_COMM_WORLD, MPI_TAG_UB, got, flag, ierr)
      call check(flag .and. got .ge. 32767, 'MPI_TAG_UB')
      call MPI_KEYVAL_CREATE(copied, MPI_NULL_DELETE_FN, key, 5, ierr)
      call MPI_ATTR_PUT(MPI_COMM_WORLD, key, -10 - rank, ierr)
      call MPI_COMM_DUP(MPI_COMM_WORLD, comm, ierr)
      call MPI_ATTR_GET(comm, key, got, flag, ierr)
      call check(flag .and. got .eq. -5 - rank, 'copied attribute')
      call MPI_COMM_CREATE_ERRHANDLER(failed, handler, ierr)
      call MPI_COMM_SET_ERRHANDLER(comm, handler, ierr)
      call MPI_SEND(got, 1, MPI_INTEGER, size, 0, comm, ierr)
      call check(ierr .eq. MPI_ERR_RANK, 'error of a wrong rank')
      call check(seen .eq. MPI_ERR_RANK, 'code for the error handler')
      call check(comm_seen .eq. comm, 'communicator for the handler')
      call MPI_COMM_FREE(comm, ierr)

      call check(MPI_WTIME() .ge. time, 'MPI_WTIME')
      call MPI_FINALIZE(ierr)
      if (failures .ne. 0) stop 1
      end

      subroutine bottom(rank)
      implicit none
      include 'mpif.h'
      integer rank, a, type, ierr, lengths(2), types(2)
      integer n, m, k, combiner, integers(8), kinds(4)
      integer (kind=MPI_ADDRESS_KIND) places(2), addresses(4)
      double precision b
      a = rank
      b = rank + 0.5d0
      call MPI_GET_ADDRESS(a, places(1), ierr)
      call MPI_GET_ADDRESS(b, places(2), ierr)
      lengths(1) = 1
      lengths(2) = 1
      types(1) = MPI_INTEGER
      types(2) = MPI_DOUBLE_PRECISION
      call MPI_TYPE_CREATE_STRUCT(2, lengths, places, types, type, ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      call MPI_BCAST(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD, ierr)
      call check(a .eq. 0 .and. b .eq. 0.5d0, 'MPI_BOTTOM')
      call MPI_TYPE_GET_ENVELOPE(type, n, m, k, combiner, ierr)
      call check(combiner .eq. MPI_COMBINER_STRUCT .and. k .eq. 2,
     &  'MPI_TYPE_GET_ENVELOPE')
      call MPI_TYPE_GET_CONTENTS(type, 8, 4, 4, integers, addresses,
     &  kinds, ierr)
      call check(kinds(2) .eq. MPI_DOUBLE_PRECISION, 'kinds')
      call check(addresses(2) .eq. places(2), 'addresses')
      call MPI_TYPE_FREE(type, ierr)
      end

! Procedures of MPI-1 that MPI-3 removed.
      subroutine removed(rank, failed)
      implicit none
      include 'mpif.h'
      integer rank, type, extent, bound, ierr, handler, found
      integer lengths(2), places(2), types(2), base
      integer pair(4)
      external failed
      call MPI_ADDRESS(pair(1), base, ierr)
      call MPI_ADDRESS(pair(4), places(2), ierr)
      places(1) = 0
      places(2) = places(2) - base
      lengths(1) = 1
      lengths(2) = 1
      types(1) = MPI_INTEGER
      types(2) = MPI_INTEGER
      call MPI_TYPE_STRUCT(2, lengths, places, types, type, ierr)
      call MPI_TYPE_COMMIT(type, ierr)
      pair(1) = rank
      pair(4) = rank + 1
      call MPI_BCAST(pair, 1, type, 0, MPI_COMM_WORLD, ierr)
      call check(pair(1) .eq. 0 .and. pair(4) .eq. 1, 'type struct')
      call MPI_TYPE_EXTENT(type, extent, ierr)
      call MPI_TYPE_UB(type, bound, ierr)
      call check(extent .eq. 16 .and. bound .eq. 16, 'type extent')
      call MPI_TYPE_FREE(type, ierr)
      call MPI_TYPE_HVECTOR(2, 1, 8, MPI_INTEGER, type, ierr)
      call MPI_TYPE_LB(type, bound, ierr)
      call MPI_TYPE_EXTENT(type, extent, ierr)
      call check(extent .eq. 12 .and. bound .eq. 0, 'type hvector')
      call MPI_TYPE_FREE(type, ierr)
      call MPI_ERRHANDLER_CREATE(failed, handler, ierr)
      call MPI_ERRHANDLER_SET(MPI_COMM_SELF, handler, ierr)
      call MPI_ERRHANDLER_GET(MPI_COMM_SELF, found, ierr)
      call check(found .eq. handler, 'errhandler get')
      end
