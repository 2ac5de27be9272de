/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and statuses of C as those of Fortran and back (MPI 5.0, 19.3). Handles of Fortran are integers, for which the
   ABI has functions of other names; statuses have the same parts in the same order. Included by mpi.h. */
#ifndef SHOAL_MPI_ABI_FORTRAN_HANDLES_H
#define SHOAL_MPI_ABI_FORTRAN_HANDLES_H

typedef int MPI_Fint;
typedef MPI_Status MPI_F08_status;

/* The common block that Fortran's MPI_STATUS_IGNORE lies in; only programs with parts in Fortran refer to it. */
extern MPI_Fint mpi_fortran_sentinels_[];
#define MPI_F_STATUS_IGNORE (mpi_fortran_sentinels_ + 6)
#define MPI_F_STATUSES_IGNORE (mpi_fortran_sentinels_ + 14)
#define MPI_F08_STATUS_IGNORE ((MPI_F08_status*)MPI_F_STATUS_IGNORE)
#define MPI_F08_STATUSES_IGNORE ((MPI_F08_status*)MPI_F_STATUSES_IGNORE)

#define MPI_Comm_c2f MPI_Comm_toint
#define MPI_Comm_f2c MPI_Comm_fromint
#define MPI_Errhandler_c2f MPI_Errhandler_toint
#define MPI_Errhandler_f2c MPI_Errhandler_fromint
#define MPI_File_c2f MPI_File_toint
#define MPI_File_f2c MPI_File_fromint
#define MPI_Group_c2f MPI_Group_toint
#define MPI_Group_f2c MPI_Group_fromint
#define MPI_Info_c2f MPI_Info_toint
#define MPI_Info_f2c MPI_Info_fromint
#define MPI_Message_c2f MPI_Message_toint
#define MPI_Message_f2c MPI_Message_fromint
#define MPI_Op_c2f MPI_Op_toint
#define MPI_Op_f2c MPI_Op_fromint
#define MPI_Request_c2f MPI_Request_toint
#define MPI_Request_f2c MPI_Request_fromint
#define MPI_Session_c2f MPI_Session_toint
#define MPI_Session_f2c MPI_Session_fromint
#define MPI_Type_c2f MPI_Type_toint
#define MPI_Type_f2c MPI_Type_fromint
#define MPI_Win_c2f MPI_Win_toint
#define MPI_Win_f2c MPI_Win_fromint

static __inline__ int MPI_Status_c2f(const MPI_Status* c_status, MPI_Fint* f_status) {
  int i;
  f_status[MPI_F_SOURCE] = c_status->MPI_SOURCE;
  f_status[MPI_F_TAG] = c_status->MPI_TAG;
  f_status[MPI_F_ERROR] = c_status->MPI_ERROR;
  for (i = 0; i < 5; ++i) f_status[3 + i] = c_status->MPI_internal[i];
  return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f2c(const MPI_Fint* f_status, MPI_Status* c_status) {
  int i;
  c_status->MPI_SOURCE = f_status[MPI_F_SOURCE];
  c_status->MPI_TAG = f_status[MPI_F_TAG];
  c_status->MPI_ERROR = f_status[MPI_F_ERROR];
  for (i = 0; i < 5; ++i) c_status->MPI_internal[i] = f_status[3 + i];
  return MPI_SUCCESS;
}

static __inline__ int MPI_Status_c2f08(const MPI_Status* c_status, MPI_F08_status* f08_status) {
  *f08_status = *c_status;
  return MPI_SUCCESS;
}

static __inline__ int MPI_Status_f082c(const MPI_F08_status* f08_status, MPI_Status* c_status) {
  *c_status = *f08_status;
  return MPI_SUCCESS;
}

#endif
