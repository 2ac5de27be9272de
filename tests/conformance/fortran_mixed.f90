! SPDX-License-Identifier: Apache-2.0
! A program in Fortran with a part in C (fortran_mixed_c.c): handles, statuses and attributes that go from one to the other,
! and variables of both that each rank has of its own.
program mixed
  use mpi
  implicit none
  interface
    integer function c_part(comm, type, op, request, status, key)
      integer :: comm, type, op, request, status(*), key
    end function
    integer function c_ignores(ignored, all_ignored)
      integer :: ignored(*), all_ignored(*)
    end function
    subroutine c_makes(comm, type, key)
      integer :: comm, type, key
    end subroutine
    integer function c_counts()
    end function
  end interface
  integer :: rank, size, ierr, failures = 0, comm, type, request, status(MPI_STATUS_SIZE), key, n, received, of_c
  integer(MPI_ADDRESS_KIND) :: value
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, size, ierr)
  n = c_counts()
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call check(n == 1 .and. c_counts() == 2, 'variables of the part in C')

  ! From Fortran to C.
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierr)
  call MPI_Type_contiguous(3, MPI_DOUBLE_PRECISION, type, ierr)
  call MPI_Type_commit(type, ierr)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND, ierr)
  call MPI_Comm_set_attr(comm, key, 2_MPI_ADDRESS_KIND**35 + rank, ierr)
  call MPI_Irecv(received, 1, MPI_INTEGER, MPI_ANY_SOURCE, 3, MPI_COMM_SELF, request, ierr)
  call MPI_Send(42, 1, MPI_INTEGER, 0, 3, MPI_COMM_SELF, ierr)
  call check(c_part(comm, type, MPI_SUM, request, status, key) == 0, 'what C sees')
  call check(request == MPI_REQUEST_NULL .and. received == 42, 'a request that C has waited for')
  call check(status(MPI_SOURCE) == 0 .and. status(MPI_TAG) == 3, 'a status that C has converted')
  call MPI_Get_count(status, MPI_INTEGER, n, ierr)
  call check(n == 1, 'the count of a converted status')
  call check(c_ignores(MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE) == 0, 'MPI_F_STATUS_IGNORE')
  call MPI_Comm_get_attr(comm, key, value, flag, ierr)
  call check(flag .and. value == 2_8**35 + rank, 'an attribute that C has looked at')
  call MPI_Comm_free(comm, ierr)
  call MPI_Type_free(type, ierr)

  ! From C to Fortran.
  call c_makes(comm, type, of_c)
  call MPI_Comm_get_name(comm, name, n, ierr)
  call check(name == 'made in C', 'a communicator of C')
  call MPI_Type_size(type, n, ierr)
  call check(n == 24, 'a datatype of C')
  call MPI_Comm_get_attr(comm, of_c, value, flag, ierr)
  call check(flag .and. value == 1000 + rank, 'an attribute of C')
  call MPI_Type_free(type, ierr)
  call MPI_Comm_free(comm, ierr)
  call MPI_Finalize(ierr)
  if (failures /= 0) stop 1

contains

  include 'fortran_check.inc'
end program
