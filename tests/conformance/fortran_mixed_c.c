/* SPDX-License-Identifier: Apache-2.0 */
/* The part of fortran_mixed.f90 that is in C, under the names that gfortran gives. */
#include <mpi.h>
#include <stdio.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                     \
    }                                                                 \
  } while (0)

int c_part_(const MPI_Fint* comm, const MPI_Fint* type, const MPI_Fint* op, MPI_Fint* request, MPI_Fint* status,
            const MPI_Fint* key) {
  int failures = 0;
  const MPI_Comm c_comm = MPI_Comm_f2c(*comm);
  const MPI_Datatype c_type = MPI_Type_f2c(*type);
  int relation = MPI_UNEQUAL, bytes = 0, rank = -1, sum = 0, one = 1, size = 0, flag = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK(MPI_Comm_compare(c_comm, MPI_COMM_WORLD, &relation) == MPI_SUCCESS && relation == MPI_CONGRUENT);
  CHECK(MPI_Comm_c2f(c_comm) == *comm && MPI_Type_c2f(c_type) == *type && MPI_Op_f2c(*op) == MPI_SUM);
  CHECK(MPI_Type_size(c_type, &bytes) == MPI_SUCCESS && bytes == 24);
  CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INTEGER, MPI_Op_f2c(*op), c_comm) == MPI_SUCCESS && sum == size);

  MPI_Request c_request = MPI_Request_f2c(*request);
  MPI_Status c_status, back;
  CHECK(MPI_Wait(&c_request, &c_status) == MPI_SUCCESS);
  *request = MPI_Request_c2f(c_request);
  MPI_Status_c2f(&c_status, status);
  MPI_Status_f2c(status, &back);
  CHECK(back.MPI_TAG == 3);

  /* What Fortran has set is an integer; C gets its address. */
  MPI_Aint* value = NULL;
  CHECK(MPI_Comm_get_attr(c_comm, *key, &value, &flag) == MPI_SUCCESS && flag);
  CHECK(flag && *value == ((MPI_Aint)1 << 35) + rank);
  MPI_Comm copy;
  MPI_Comm_dup(c_comm, &copy);
  CHECK(MPI_Comm_get_attr(copy, *key, &value, &flag) == MPI_SUCCESS && flag);
  CHECK(flag && *value == ((MPI_Aint)1 << 35) + rank);
  MPI_Comm_free(&copy);
  return failures;
}

int c_ignores_(const MPI_Fint* ignored, const MPI_Fint* all_ignored) {
  return ignored == MPI_F_STATUS_IGNORE && all_ignored == MPI_F_STATUSES_IGNORE ? 0 : 1;
}

void c_makes_(MPI_Fint* comm, MPI_Fint* type, MPI_Fint* key) {
  MPI_Comm made;
  MPI_Datatype row;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  MPI_Comm_set_name(made, "made in C");
  MPI_Type_vector(3, 1, 4, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, key, NULL);
  MPI_Comm_set_attr(made, *key, (char*)NULL + 1000 + rank);
  *comm = MPI_Comm_c2f(made);
  *type = MPI_Type_c2f(row);
}

int c_counts_(void) {
  static int calls = 0;
  return ++calls;
}
