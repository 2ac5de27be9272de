/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the program run on the thread that has called MPI: it may hold a lock that they take, too, as Python's
   interpreter does, and they may call MPI. */
#define _GNU_SOURCE
#include <pthread.h>

#include "check.h"

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local int depth; /* calls that hold the lock, of this thread */
static int copied, deleted, handled, queried, released, cancelled;

#define LOCKED(call)             \
  do {                           \
    pthread_mutex_lock(&lock);   \
    ++depth;                     \
    call;                        \
    --depth;                     \
    pthread_mutex_unlock(&lock); \
  } while (0)

static void note(int* count) {
  pthread_mutex_lock(&lock);
  CHECK(depth > 0);
  ++*count;
  pthread_mutex_unlock(&lock);
}

static int copy(MPI_Comm comm, int key, void* extra, void* value, void* result, int* flag) {
  int size = -1;
  (void)key;
  note(&copied);
  LOCKED(MPI_Comm_size(comm, &size));
  CHECK_EQUAL(size, size_);
  /* Calls one of the program's functions, too. */
  LOCKED(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_OTHER));
  *(void**)result = value;
  *flag = 1;
  return *(int*)extra;
}
static int delete (MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  note(&deleted);
  return *(int*)extra;
}
static void handle(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  note(&handled);
}
static int query(void* extra, MPI_Status* status) {
  (void)extra;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  note(&queried);
  return MPI_SUCCESS;
}
static int release(void* extra) {
  (void)extra;
  note(&released);
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  note(&cancelled);
  return MPI_SUCCESS;
}

static void round_of_calls(void) {
  int key, result = MPI_SUCCESS, count = 0;
  MPI_Comm again;
  MPI_Request r;
  MPI_Status status;
  LOCKED(MPI_Comm_create_keyval(copy, delete, &key, &result));
  LOCKED(MPI_Comm_set_attr(MPI_COMM_WORLD, key, &count));
  LOCKED(MPI_Comm_dup(MPI_COMM_WORLD, &again));
  CHECK_EQUAL(copied, 1);
  CHECK_EQUAL(handled, 1);
  LOCKED(MPI_Comm_free(&again));
  CHECK_EQUAL(deleted, 1);
  LOCKED(MPI_Comm_delete_attr(MPI_COMM_WORLD, key));
  CHECK_EQUAL(deleted, 2);
  LOCKED(MPI_Comm_free_keyval(&key));
  LOCKED(CHECK_UNLESS_MPICH(MPI_Recv(&count, 1, MPI_INT, 5, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE) != MPI_SUCCESS));
  CHECK_EQUAL(handled, 2);
  LOCKED(MPI_Grequest_start(query, release, cancel, NULL, &r));
  LOCKED(MPI_Cancel(&r));
  CHECK_EQUAL(cancelled, 1);
  LOCKED(MPI_Grequest_complete(r));
  LOCKED(MPI_Wait(&r, &status));
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 3);
  CHECK_EQUAL(queried, 1);
  CHECK_EQUAL(released, 1);
  copied = deleted = handled = queried = released = cancelled = 0;
}

static void* other_thread(void* nothing) {
  round_of_calls();
  return nothing;
}

int main(int argc, char** argv) {
  int provided = 0;
  pthread_t other;
  MPI_Errhandler mine;
  provided = begin_with_threads(&argc, &argv);
  MPI_Comm_create_errhandler(handle, &mine);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, mine);
  round_of_calls();
  if (provided == MPI_THREAD_MULTIPLE) {
    pthread_create(&other, NULL, other_thread, NULL);
    pthread_join(other, NULL);
  }
  MPI_Errhandler_free(&mine);
  return end();
}
