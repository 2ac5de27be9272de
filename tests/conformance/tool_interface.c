/* SPDX-License-Identifier: Apache-2.0 */
/* The tool interface: start and end, variables by number and name, the length of a queue while it grows. */
#include "check.h"

static void none(void) {
  int n = -1;
  CHECK_EQUAL(MPI_T_cvar_get_num(&n), MPI_SUCCESS);
  CHECK(n >= 0);
  CHECK(MPI_T_cvar_get_index("no such variable", &n) != MPI_SUCCESS);
  CHECK(MPI_T_cvar_get_info(1 << 30, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) != MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_category_get_num(&n), MPI_SUCCESS);
  CHECK(n >= 0);
  CHECK_EQUAL(MPI_T_category_changed(&n), MPI_SUCCESS);
  CHECK(MPI_T_category_get_index("no such category", &n) != MPI_SUCCESS);
  CHECK(MPI_T_category_get_info(1 << 30, NULL, NULL, NULL, NULL, NULL, NULL, NULL) != MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_event_get_num(&n), MPI_SUCCESS);
  CHECK(n >= 0);
  CHECK(MPI_T_event_get_index("no such event", &n) != MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_source_get_num(&n), MPI_SUCCESS);
  CHECK(n >= 0);
}

static void variables(void) {
  int n = 0;
  CHECK_EQUAL(MPI_T_pvar_get_num(&n), MPI_SUCCESS);
  for (int i = 0; i < n; ++i) {
    char name[256] = "", text[1024] = "", little[4] = "xxx";
    int name_length = sizeof name, text_length = sizeof text, verbosity, class, bind, readonly, continuous, atomic;
    int at = -1;
    MPI_Datatype type;
    MPI_T_enum names;
    CHECK_EQUAL(MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &names, text, &text_length, &bind,
                                    &readonly, &continuous, &atomic),
                MPI_SUCCESS);
    CHECK_EQUAL(strlen(name) + 1, name_length);
    CHECK_EQUAL(MPI_T_pvar_get_index(name, class, &at), MPI_SUCCESS);
    CHECK_EQUAL(at, i);
    name_length = sizeof little;
    MPI_T_pvar_get_info(i, little, &name_length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(strncmp(little, name, 3) == 0 && little[3] == '\0');
  }
  CHECK(MPI_T_pvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL) ==
        MPI_T_ERR_INVALID_INDEX);
  CHECK_EQUAL(MPI_T_pvar_get_index("no such variable", MPI_T_PVAR_CLASS_LEVEL, &n), MPI_T_ERR_INVALID_NAME);
}

static void length_of_a_queue(void) {
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handle, gone;
  int at = -1, count = 0, v = 1, readonly = 0, continuous = 0;
  unsigned long long before = 99, now = 99;
  MPI_T_pvar_session_create(&session);
  if (MPI_T_pvar_get_index("unexpected_queue_length", MPI_T_PVAR_CLASS_LEVEL, &at) != MPI_SUCCESS) {
    CHECK(is_mpich());
    MPI_T_pvar_session_free(&session);
    return;
  }
  MPI_T_pvar_get_info(at, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &readonly, &continuous, NULL);
  CHECK(readonly && continuous);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, at, NULL, &handle, &count), MPI_SUCCESS);
  CHECK_EQUAL(count, 1);
  CHECK_EQUAL(MPI_T_pvar_read(session, handle, &before), MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) MPI_Send(&v, 1, MPI_INT, 0, 7, MPI_COMM_SELF);
  CHECK_EQUAL(MPI_T_pvar_read(session, handle, &now), MPI_SUCCESS);
  CHECK_EQUAL(now, before + 3);
  for (int i = 0; i < 3; ++i) MPI_Recv(&v, 1, MPI_INT, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_T_pvar_read(session, handle, &now);
  CHECK_EQUAL(now, before);
  CHECK_EQUAL(MPI_T_pvar_write(session, handle, &now), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQUAL(MPI_T_pvar_reset(session, handle), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQUAL(MPI_T_pvar_readreset(session, handle, &now), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQUAL(MPI_T_pvar_start(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQUAL(MPI_T_pvar_stop(session, handle), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQUAL(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES), MPI_SUCCESS);
  CHECK_EQUAL(MPI_T_pvar_handle_alloc(session, 1 << 30, NULL, &gone, &count), MPI_T_ERR_INVALID_INDEX);
  gone = handle;
  CHECK_EQUAL(MPI_T_pvar_handle_free(session, &handle), MPI_SUCCESS);
  CHECK(handle == MPI_T_PVAR_HANDLE_NULL);
  CHECK_EQUAL(MPI_T_pvar_read(session, gone, &now), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQUAL(MPI_T_pvar_session_free(&session), MPI_SUCCESS);
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

int main(int argc, char** argv) {
  int provided = -1;
  CHECK_EQUAL(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS); /* also before MPI_Init */
  CHECK(provided >= MPI_THREAD_SINGLE);
  begin(&argc, &argv);
  none();
  variables();
  length_of_a_queue();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(MPI_T_finalize(), MPI_SUCCESS);
  return end();
}
