/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: before MPI_Init, beside it, several at once, one after the other. */
#include "check.h"

static int handled;
static void count_error(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  ++handled;
}

static MPI_Session raised_in;
static int raised;
static void note_error(MPI_Session* session, int* code, ...) {
  raised_in = *session;
  MPI_Error_class(*code, &raised);
}

static void hints(MPI_Session session) {
  MPI_Info info = MPI_INFO_NULL;
  char value[64] = "";
  int flag = 0, length = sizeof value;
  CHECK_EQUAL(MPI_Session_get_info(session, &info), MPI_SUCCESS);
  MPI_Info_get_string(info, "thread_level", &length, value, &flag);
  CHECK(flag && strcmp(value, "MPI_THREAD_MULTIPLE") == 0);
  MPI_Info_free(&info);
}

static void process_sets(MPI_Session session, int world_size) {
  int n = 0, has_world = 0, has_self = 0;
  CHECK_EQUAL(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &n), MPI_SUCCESS);
  CHECK(n >= 2);
  for (int i = 0; i < n; ++i) {
    char name[MPI_MAX_PSET_NAME_LEN] = "untouched", little[5] = "xxxx";
    int length = 0, wanted;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name); /* asks how long it is */
    CHECK(strcmp(name, "untouched") == 0 && length > 1 && length <= MPI_MAX_PSET_NAME_LEN);
    wanted = length;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name);
    CHECK_EQUAL(length, wanted);
    CHECK_EQUAL(strlen(name) + 1, wanted);
    length = sizeof little;
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, little);
    CHECK(strncmp(little, name, 4) == 0 && little[4] == '\0');
    const int is_world = strcmp(name, "mpi://WORLD") == 0, is_self = strcmp(name, "mpi://SELF") == 0;
    has_world += is_world;
    has_self += is_self;
    if (!is_world && !is_self) continue;
    MPI_Info info;
    char size[16] = "";
    int flag = 0, room = sizeof size;
    CHECK_EQUAL(MPI_Session_get_pset_info(session, name, &info), MPI_SUCCESS);
    MPI_Info_get_string(info, "mpi_size", &room, size, &flag);
    CHECK(flag);
    CHECK_EQUAL(atoi(size), is_world ? world_size : 1);
    MPI_Info_free(&info);
  }
  CHECK(has_world == 1 && has_self == 1);
}

/* Communicators without MPI_Init. */
static void communicators(MPI_Session session, int* world_size) {
  MPI_Group world, self, none = MPI_GROUP_EMPTY, part;
  MPI_Comm all, alone, between;
  int me = -1, size = 0, one = 1, sum = 0;
  CHECK_EQUAL(MPI_Group_from_session_pset(session, "mpi://WORLD", &world), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Group_from_session_pset(session, "mpi://SELF", &self), MPI_SUCCESS);
  MPI_Group_size(self, &size);
  CHECK_EQUAL(size, 1);
  CHECK_EQUAL(MPI_Comm_create_from_group(world, "all of them", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Comm_create_from_group(self, "alone", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &alone), MPI_SUCCESS);
  MPI_Comm_rank(all, &me);
  rank_ = me;
  MPI_Comm_size(all, &size);
  *world_size = size;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, all);
  CHECK_EQUAL(sum, size);
  CHECK(MPI_Send(&one, 1, MPI_INT, size, 0, all) != MPI_SUCCESS); /* its error handler returns */
  MPI_Comm_size(alone, &size);
  CHECK_EQUAL(size, 1);
  CHECK_EQUAL(MPI_Comm_create_from_group(none, "nobody", MPI_INFO_NULL, MPI_ERRORS_RETURN, &between), MPI_SUCCESS);
  CHECK(between == MPI_COMM_NULL);
  if (*world_size > 1) {
    /* The even and the odd ones; only the leaders know whom they lead to. */
    int ranges[1][3] = {{me % 2, *world_size - 1, 2}}, others[1][3] = {{1 - me % 2, *world_size - 1, 2}}, remote = 0;
    MPI_Group there;
    MPI_Group_range_incl(world, 1, ranges, &part);
    MPI_Group_range_incl(world, 1, others, &there);
    CHECK_EQUAL(
        MPI_Intercomm_create_from_groups(part, 0, there, 0, "bridge", MPI_INFO_NULL, MPI_ERRORS_RETURN, &between),
        MPI_SUCCESS);
    MPI_Comm_remote_size(between, &remote);
    CHECK_EQUAL(remote, (*world_size + me % 2) / 2);
    sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
    CHECK_EQUAL(sum, remote);
    MPI_Comm_free(&between);
    MPI_Group_free(&part);
    MPI_Group_free(&there);
  }
  MPI_Comm_free(&all);
  MPI_Comm_free(&alone);
  MPI_Group_free(&world);
  MPI_Group_free(&self);
}

static void handlers(MPI_Session session) {
  MPI_Errhandler own, got;
  MPI_Info info;
  MPI_Session_create_errhandler(note_error, &own);
  CHECK_EQUAL(MPI_Session_set_errhandler(session, own), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Session_get_errhandler(session, &got), MPI_SUCCESS);
  CHECK(got == own);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&own);
  MPI_Session_call_errhandler(session, MPI_ERR_TAG);
  CHECK(raised == MPI_ERR_TAG && raised_in == session);
  CHECK_UNLESS_MPICH(MPI_Session_get_pset_info(session, "mpi://NOBODY", &info) != MPI_SUCCESS);
  CHECK_UNLESS_MPICH(raised != MPI_ERR_TAG);
  MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN);
}

int main(int argc, char** argv) {
  int world_size = 0;
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
  hints(one);
  communicators(two, &world_size);
  process_sets(two, world_size);
  handlers(two);
  begin(&argc, &argv);
  CHECK_EQUAL(size_, world_size);
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
