/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_THREAD_MULTIPLE: threads that a rank has made call MPI as that rank, all at once. */
#include <pthread.h>
#include <time.h>

#include "check.h"

enum { THREADS = 4, ROUNDS = 60, LONG = 30000 };

static MPI_Comm comms_[THREADS];
static int bad_[THREADS]; /* what each thread has found wrong */

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

/* Threads of a rank are not to be told apart by others but by their tags. */
static void* exchange(void* argument) {
  const int t = *(int*)argument;
  int me = -1, main_thread = -1;
  char *out = malloc(LONG), *in = malloc(LONG);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Is_thread_main(&main_thread);
  bad_[t] += me != rank_;
  bad_[t] += main_thread != 0;
  for (int i = 0; i < ROUNDS; ++i) {
    const int n = i % 3 == 0 ? LONG : i + 1;
    MPI_Request r[2];
    MPI_Status st;
    int count = -1;
    memset(out, rank_ + t + i, (size_t)n);
    memset(in, 0, (size_t)n);
    if (i % 2 == 0) {
      MPI_Sendrecv(out, n, MPI_CHAR, right(), t, in, n, MPI_CHAR, left(), t, MPI_COMM_WORLD, &st);
    } else {
      MPI_Irecv(in, n, MPI_CHAR, left(), t, MPI_COMM_WORLD, &r[0]);
      MPI_Issend(out, n, MPI_CHAR, right(), t, MPI_COMM_WORLD, &r[1]);
      MPI_Wait(&r[0], &st);
      MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    }
    MPI_Get_count(&st, MPI_CHAR, &count);
    bad_[t] += count != n || st.MPI_SOURCE != left();
    for (int k = 0; k < n; ++k) bad_[t] += in[k] != (char)(left() + t + i);
  }
  free(out);
  free(in);
  return NULL;
}

/* Each thread has a communicator of its own for its collective operations. */
static void* collectives(void* argument) {
  const int t = *(int*)argument;
  for (int i = 0; i < ROUNDS; ++i) {
    int mine = rank_ + t + i, sum = -1, one = rank_ == i % size_ ? t * 1000 + i : -1;
    MPI_Request r;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comms_[t]);
    bad_[t] += sum != size_ * (size_ - 1) / 2 + size_ * (t + i);
    MPI_Ibcast(&one, 1, MPI_INT, i % size_, comms_[t], &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    bad_[t] += one != t * 1000 + i;
    MPI_Barrier(comms_[t]);
  }
  return NULL;
}

/* Any thread may take any message of the same tag: all arrive, each once. */
static long long taken_[THREADS];
static void* take(void* argument) {
  const int t = *(int*)argument;
  for (int i = 0; i < ROUNDS; ++i) {
    int value = -1;
    if (i % 2 == 0) {
      MPI_Recv(&value, 1, MPI_INT, left(), 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Message m;
      MPI_Mprobe(MPI_ANY_SOURCE, 50, MPI_COMM_WORLD, &m, MPI_STATUS_IGNORE);
      MPI_Mrecv(&value, 1, MPI_INT, &m, MPI_STATUS_IGNORE);
    }
    taken_[t] += value;
  }
  return NULL;
}

/* One thread waits while another one of its rank completes what it waits for, after a while. */
static void* answer(void* argument) {
  const struct timespec while_ = {0, 500000000};
  int v = 0;
  (void)argument;
  nanosleep(&while_, NULL);
  MPI_Recv(&v, 1, MPI_INT, 0, 60, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  ++v;
  MPI_Send(&v, 1, MPI_INT, 0, 61, MPI_COMM_SELF);
  return NULL;
}

/* A generalized request that another thread completes. */
static int query(void* extra, MPI_Status* st) {
  MPI_Status_set_elements(st, MPI_INT, *(int*)extra);
  MPI_Status_set_cancelled(st, 0);
  st->MPI_SOURCE = MPI_UNDEFINED;
  st->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int release(void* extra) {
  *(int*)extra = -1;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}
static void* complete(void* argument) {
  MPI_Grequest_complete(*(MPI_Request*)argument);
  return NULL;
}

static void run(void* (*body)(void*)) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    numbers[t] = t;
    bad_[t] = 0;
    pthread_create(&threads[t], NULL, body, &numbers[t]);
  }
  for (int t = 0; t < THREADS; ++t) {
    pthread_join(threads[t], NULL);
    CHECK_EQUAL(bad_[t], 0);
  }
}

/* Threads make communicators of the same ranks at once, in other orders elsewhere; only all bits of the tags tell
   which. */
static void* create_groups(void* argument) {
  const int t = *(int*)argument, order = rank_ % 2 == 0 ? t : THREADS - 1 - t;
  const struct timespec later = {0, order * 5000000L};
  MPI_Group all;
  MPI_Comm made;
  int told = rank_ == 0 ? t : -1;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  nanosleep(&later, NULL);
  MPI_Comm_create_group(MPI_COMM_WORLD, all, 5 + t * (1 << 24), &made);
  MPI_Bcast(&told, 1, MPI_INT, 0, made);
  bad_[t] += told != t;
  MPI_Comm_free(&made);
  MPI_Group_free(&all);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1, again = -1, main_thread = 0, extra = 3, v = 41, count = 0;
  long long taken = 0;
  pthread_t other;
  MPI_Request r;
  MPI_Status st;
  provided = begin_with_threads(&argc, &argv);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  MPI_Query_thread(&again);
  CHECK_EQUAL(again, provided);
  MPI_Is_thread_main(&main_thread);
  CHECK_EQUAL(main_thread, 1);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms_[t]);
  run(exchange);
  run(collectives);
  run(create_groups);
  for (int t = 0; t < THREADS; ++t) MPI_Comm_free(&comms_[t]);
  for (int i = 0; i < THREADS * ROUNDS; ++i) {
    MPI_Isend(&rank_, 1, MPI_INT, right(), 50, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
  }
  run(take);
  for (int t = 0; t < THREADS; ++t) taken += taken_[t];
  CHECK_EQUAL(taken, (long long)left() * THREADS * ROUNDS);
  pthread_create(&other, NULL, answer, NULL);
  MPI_Send(&v, 1, MPI_INT, 0, 60, MPI_COMM_SELF);
  MPI_Recv(&v, 1, MPI_INT, 0, 61, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK_EQUAL(v, 42);
  pthread_join(other, NULL);
  MPI_Grequest_start(query, release, cancel, &extra, &r);
  MPI_Request shown = r;
  pthread_create(&other, NULL, complete, &shown);
  MPI_Wait(&r, &st);
  pthread_join(other, NULL);
  MPI_Get_count(&st, MPI_INT, &count);
  CHECK(count == 3 && extra == -1);
  return end();
}
