// SPDX-License-Identifier: Apache-2.0
// What the preload library must get right beyond messages, from several threads at once: constructors, windows with
// locks, fences, posts and starts, groups, intercommunicators, callbacks, requests of another thread, exchange in
// place, matched probes. Two processes.
#include "bench/mpi/measure.h"

enum { k_threads = 3, k_rounds = 8 };
static MPI_Comm lanes[k_threads];
static int keyval, peer;
static atomic_int deleted;

static void add_checked(void* in, void* out, int* count, MPI_Datatype* type) {
  int size = 0;
  MPI_Type_size(*type, &size);  // a call from within the library
  expect(size == (int)sizeof(int), "the operation saw another type");
  for (int i = 0; i < *count; ++i) ((int*)out)[i] += ((int*)in)[i];
}

static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  int rank = -1, flag = 0;
  MPI_Request none = MPI_REQUEST_NULL;
  (void)key, (void)value, (void)extra;
  MPI_Comm_rank(comm, &rank);
  MPI_Test(&none, &flag, MPI_STATUS_IGNORE);
  atomic_fetch_add(&deleted, rank >= 0 && flag);
  return MPI_SUCCESS;
}

static void constructors(int thread) {
  MPI_Comm comm = lanes[thread], made[4];
  const int dims[1] = {2}, periods[1] = {1};
  MPI_Op op;
  MPI_Op_create(add_checked, 1, &op);
  MPI_Comm_split(comm, 0, -g_program.rank, &made[0]);
  MPI_Cart_create(comm, 1, dims, periods, 0, &made[1]);
  MPI_Comm_dup(comm, &made[2]);
  MPI_Comm_split(comm, g_program.rank, 0, &made[3]);
  int rank, size, one = g_program.rank + 1, sum = 0;
  MPI_Comm_rank(made[0], &rank);
  MPI_Comm_size(made[3], &size);
  expect(rank == peer && size == 1, "a split communicator is not as asked for");
  MPI_Allreduce(&one, &sum, 1, MPI_INT, op, made[2]);
  expect(sum == 3, "a user operation gave a wrong sum");
  MPI_Comm_set_attr(made[2], keyval, NULL);
  for (int i = 0; i < 4; ++i) MPI_Comm_free(&made[i]);
  MPI_Op_free(&op);
  MPI_Comm between, merged;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, comm, peer, 7, &between);
  MPI_Intercomm_merge(between, g_program.rank, &merged);
  MPI_Comm_size(merged, &size);
  expect(size == 2, "a merged communicator has another size");
  MPI_Comm_free(&between);
  MPI_Comm_free(&merged);
  MPI_Group group;
  MPI_Comm grouped;
  MPI_Comm_group(comm, &group);
  MPI_Comm_create_group(comm, group, 20000, &grouped);  // all threads at once, for they have each their communicator
  int lowest = thread, highest = thread;
  MPI_Allreduce(MPI_IN_PLACE, &lowest, 1, MPI_INT, MPI_MIN, grouped);
  MPI_Allreduce(MPI_IN_PLACE, &highest, 1, MPI_INT, MPI_MAX, grouped);
  expect(lowest == thread && highest == thread, "a group's communicator is another thread's");
  MPI_Comm_free(&grouped);
  MPI_Group_free(&group);
}

// What is wrong is said, and leaves nothing behind that another would wait for.
static void wrong_locks(MPI_Win win) {
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  expect(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1000, 0, win) != MPI_SUCCESS, "a lock of nobody's window is no error");
  expect(MPI_Win_lock(4711, peer, 0, win) != MPI_SUCCESS, "a lock of an unknown type is no error");
  const char* level = getenv("SHOAL_MPI_THREADS_LEVEL");
  if (level == NULL || strcmp(level, "serialized") != 0) return;  // Open MPI by itself waits for itself
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win);
  expect(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, peer, 0, win) != MPI_SUCCESS, "a second lock is no error");
  MPI_Win_unlock(peer, win);
}

static void windows(int thread, int round) {
  long* memory;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, lanes[thread], &memory, &win);
  memory[0] = memory[1] = 0;
  MPI_Win_fence(0, win);
  const long mine = g_program.rank + 5;
  MPI_Put(&mine, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
  MPI_Win_fence(0, win);
  expect(memory[0] == peer + 5, "a fence did not bring what was put");
  if (round == 0) wrong_locks(win);
  MPI_Barrier(lanes[thread]);
  // Read, wait for the other process's next thread while the lock is held, write: exclusive, or counts are lost.
  for (int i = 0; i < k_rounds; ++i) {
    long value = 0;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    ++value;
    int flag;
    MPI_Iprobe(peer, 99, lanes[thread], &flag, MPI_STATUS_IGNORE);
    MPI_Put(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(lanes[thread]);
  if (g_program.rank == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    expect(memory[1] == 2 * k_rounds, "an exclusive lock did not exclude");
    MPI_Win_unlock(0, win);
  }
  MPI_Group all, other;
  MPI_Win_get_group(win, &all);
  MPI_Group_incl(all, 1, &peer, &other);
  MPI_Barrier(lanes[thread]);
  if (g_program.rank == 0) {
    const long said = 77;
    MPI_Win_start(other, 0, win);
    MPI_Put(&said, 1, MPI_LONG, peer, 0, 1, MPI_LONG, win);
    MPI_Win_complete(win);
  } else {
    MPI_Win_post(other, 0, win);
    MPI_Win_wait(win);
    expect(memory[0] == 77, "a post did not bring what was put");
  }
  MPI_Group_free(&other);
  MPI_Group_free(&all);
  MPI_Win_free(&win);
}

static void messages(int thread) {
  MPI_Comm comm = lanes[thread];
  int pair[2] = {g_program.rank, thread};
  MPI_Sendrecv_replace(pair, 2, MPI_INT, peer, 1, peer, 1, comm, MPI_STATUS_IGNORE);
  expect(pair[0] == peer && pair[1] == thread, "an exchange in place brought something else");
  MPI_Request request;
  MPI_Isend(pair, 2, MPI_INT, peer, 2, comm, &request);
  MPI_Message message;
  MPI_Status status;
  MPI_Mprobe(MPI_ANY_SOURCE, 2, comm, &message, &status);
  int got[2] = {-1, -1};
  MPI_Mrecv(got, 2, MPI_INT, &message, &status);
  expect(got[0] == g_program.rank && got[1] == thread, "a matched receive brought something else");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect(MPI_Send(pair, 1, MPI_INT, 1000, 0, comm) != MPI_SUCCESS, "a send to nobody is no error");
  int error_class = MPI_SUCCESS;
  const int code = MPI_Recv(pair, -1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  MPI_Error_class(code, &error_class);
  expect(error_class == MPI_ERR_COUNT, "a negative count is another error");
}

static MPI_Request handed[2];
static int handed_value[2];
static void body(int thread) {
  measured_begin();
  for (int i = 0; i < k_rounds; ++i) {
    constructors(thread);
    windows(thread, i);
    messages(thread);
  }
  measured_end();
}
static void* complete_handed(void* nothing) {
  MPI_Waitall(2, handed, MPI_STATUSES_IGNORE);
  return nothing;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", k_threads, "fixed"}};
  begin_program(argc, argv, "sections", options, 1);
  if (g_program.ranks != 2) stop_program("needs two processes");
  peer = 1 - g_program.rank;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_attribute, &keyval, NULL);
  for (int t = 0; t < k_threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t]);
  run_threads(k_threads, body);
  expect(atomic_load(&deleted) == k_threads * k_rounds, "attributes were not deleted as often as set");
  handed_value[1] = g_program.rank;
  MPI_Irecv(&handed_value[0], 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &handed[0]);
  MPI_Isend(&handed_value[1], 1, MPI_INT, peer, 3, MPI_COMM_WORLD, &handed[1]);
  pthread_t other;
  if (pthread_create(&other, NULL, complete_handed, NULL) != 0) stop_program("cannot start a thread");
  pthread_join(other, NULL);
  expect(handed_value[0] == peer, "another thread did not complete the requests");
  for (int t = 0; t < k_threads; ++t) MPI_Comm_free(&lanes[t]);
  add_metric("seconds", "s", measured_seconds());
  return end_program();
}
