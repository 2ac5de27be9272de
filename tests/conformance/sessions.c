/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: before MPI_Init, beside it, several at once, one after the other. */
#include "check.h"

static int handled;
static void count_error(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  ++handled;
}

int main(int argc, char** argv) {
  MPI_Session one, two;
  MPI_Errhandler handler;
  MPI_Info info;
  int flag = -1;
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 0);
  MPI_Finalized(&flag);
  CHECK_EQUAL(flag, 0);
  MPI_Info_create(&info); /* may be used at any time */
  MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE");
  MPI_Session_create_errhandler(count_error, &handler);
  CHECK_EQUAL(MPI_Session_init(info, handler, &one), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &two), MPI_SUCCESS);
  CHECK(one != MPI_SESSION_NULL && two != MPI_SESSION_NULL && one != two);
  MPI_Errhandler_free(&handler);
  MPI_Info_free(&info);
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 0); /* this asks for MPI_Init */
  CHECK(MPI_Session_fromint(MPI_Session_toint(one)) == one);
  begin(&argc, &argv);
  MPI_Initialized(&flag);
  CHECK_EQUAL(flag, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(MPI_Session_finalize(&one), MPI_SUCCESS);
  CHECK(one == MPI_SESSION_NULL);
  CHECK_EQUAL(MPI_Session_finalize(&two), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD); /* the world is still there */
  CHECK_EQUAL(MPI_Session_finalize(&one), MPI_SUCCESS);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &two);
  CHECK_EQUAL(handled, 0);
  const int result = end(); /* of the world; the session goes on */
  MPI_Finalized(&flag);
  return result != 0 || flag != 1 || MPI_Session_finalize(&two) != MPI_SUCCESS || two != MPI_SESSION_NULL;
}
