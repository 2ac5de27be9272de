! SPDX-License-Identifier: Apache-2.0
! The module mpi_f08: handles have types, ierror is optional, counts may be large.
! Buffers go by address, and a section of an array that is not contiguous is
! copied (MPI_SUBARRAYS_SUPPORTED is .false.). mpi_f08_interfaces.inc is made by
! the wrapper compiler, which compiles this file once for each compiler.
module mpi_f08
 use, intrinsic :: iso_c_binding, only: c_ptr
 implicit none
 private :: c_ptr
 include 'mpi_values.inc'
 integer, parameter :: MPI_F_STATUS_SIZE = 8
 integer, parameter :: MPI_F_SOURCE = 1, MPI_F_TAG = 2, MPI_F_ERROR = 3

 type, bind(C) :: MPI_Comm
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Datatype
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Errhandler
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_File
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Group
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Info
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Message
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Op
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Request
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Session
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Win
  integer :: MPI_VAL
 end type
 type, bind(C) :: MPI_Status
  integer :: MPI_SOURCE, MPI_TAG, MPI_ERROR
  integer, private :: internal(5)
 end type
 include 'mpi_f08_handles.inc'

 ! The same block as in mpi_sentinels.inc.
 integer :: MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC
 integer :: MPI_UNWEIGHTED(1), MPI_WEIGHTS_EMPTY(1), MPI_ERRCODES_IGNORE(1)
 type(MPI_Status) :: MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE(1)
 character(len=1) :: MPI_ARGV_NULL(1), MPI_ARGVS_NULL(1,1)
 common /mpi_fortran_sentinels/ MPI_BOTTOM, MPI_IN_PLACE, MPI_BUFFER_AUTOMATIC, MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY, &
   MPI_ERRCODES_IGNORE, MPI_STATUS_IGNORE, MPI_STATUSES_IGNORE, MPI_ARGV_NULL, MPI_ARGVS_NULL
 save /mpi_fortran_sentinels/

 ! Procedures that a program gives.
 abstract interface
  subroutine MPI_User_function(invec, inoutvec, len, datatype)
   import
   type(c_ptr), value :: invec, inoutvec
   integer :: len
   type(MPI_Datatype) :: datatype
  end subroutine
  subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
   import
   type(c_ptr), value :: invec, inoutvec
   integer(8) :: len
   type(MPI_Datatype) :: datatype
  end subroutine
  subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
   import
   type(MPI_Comm) :: oldcomm
   integer :: comm_keyval, ierror
   integer(8) :: extra_state, attribute_val_in, attribute_val_out
   logical :: flag
  end subroutine
  subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
   import
   type(MPI_Comm) :: comm
   integer :: comm_keyval, ierror
   integer(8) :: attribute_val, extra_state
  end subroutine
  subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
   import
   type(MPI_Datatype) :: oldtype
   integer :: type_keyval, ierror
   integer(8) :: extra_state, attribute_val_in, attribute_val_out
   logical :: flag
  end subroutine
  subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
   import
   type(MPI_Datatype) :: datatype
   integer :: type_keyval, ierror
   integer(8) :: attribute_val, extra_state
  end subroutine
  subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
   import
   type(MPI_Win) :: oldwin
   integer :: win_keyval, ierror
   integer(8) :: extra_state, attribute_val_in, attribute_val_out
   logical :: flag
  end subroutine
  subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
   import
   type(MPI_Win) :: win
   integer :: win_keyval, ierror
   integer(8) :: attribute_val, extra_state
  end subroutine
  subroutine MPI_Comm_errhandler_function(comm, error_code)
   import
   type(MPI_Comm) :: comm
   integer :: error_code
  end subroutine
  subroutine MPI_Session_errhandler_function(session, error_code)
   import
   type(MPI_Session) :: session
   integer :: error_code
  end subroutine
  subroutine MPI_Win_errhandler_function(win, error_code)
   import
   type(MPI_Win) :: win
   integer :: error_code
  end subroutine
  subroutine MPI_File_errhandler_function(file, error_code)
   import
   type(MPI_File) :: file
   integer :: error_code
  end subroutine
  subroutine MPI_Grequest_query_function(extra_state, status, ierror)
   import
   integer(8) :: extra_state
   type(MPI_Status) :: status
   integer :: ierror
  end subroutine
  subroutine MPI_Grequest_free_function(extra_state, ierror)
   integer(8) :: extra_state
   integer :: ierror
  end subroutine
  subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
   integer(8) :: extra_state
   logical :: complete
   integer :: ierror
  end subroutine
 end interface
 procedure(MPI_Comm_copy_attr_function) :: MPI_COMM_NULL_COPY_FN, MPI_COMM_DUP_FN
 procedure(MPI_Comm_delete_attr_function) :: MPI_COMM_NULL_DELETE_FN
 procedure(MPI_Type_copy_attr_function) :: MPI_TYPE_NULL_COPY_FN, MPI_TYPE_DUP_FN
 procedure(MPI_Type_delete_attr_function) :: MPI_TYPE_NULL_DELETE_FN
 procedure(MPI_Win_copy_attr_function) :: MPI_WIN_NULL_COPY_FN, MPI_WIN_DUP_FN
 procedure(MPI_Win_delete_attr_function) :: MPI_WIN_NULL_DELETE_FN

 include 'mpi_f08_compare.inc'
 include 'mpi_f08_interfaces.inc'
 include 'mpi_sizeof.inc'
 interface
  subroutine MPI_Status_f2f08(f_status, f08_status, ierror)
   import
   integer, intent(in) :: f_status(8)
   type(MPI_Status), intent(out) :: f08_status
   integer, optional, intent(out) :: ierror
  end subroutine
  subroutine MPI_Status_f082f(f08_status, f_status, ierror)
   import
   type(MPI_Status), intent(in) :: f08_status
   integer, intent(out) :: f_status(8)
   integer, optional, intent(out) :: ierror
  end subroutine
 end interface
end module
