/* SPDX-License-Identifier: Apache-2.0 */
/* A rank waits for threads of its own, which call MPI meanwhile, by all that pthreads have: barriers, mutexes around calls
   of MPI (MPI_THREAD_SERIALIZED), condition variables, semaphores. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

enum { THREADS = 3, ROUNDS = 12 };

static pthread_barrier_t barrier_;
static pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed_ = PTHREAD_COND_INITIALIZER;
static sem_t ready_;
static int bad_, turn_, sums_[THREADS];

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

/* A message around the ring. */
static int pass(int tag) {
  int got = -1;
  MPI_Sendrecv(&rank_, 1, MPI_INT, right(), tag, &got, 1, MPI_INT, left(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got != left();
}

/* The main thread is at the barrier before the others have called MPI. */
static void* with_barriers(void* argument) {
  const int t = *(int*)argument;
  int bad = 0;
  for (int i = 0; i < ROUNDS; ++i) {
    bad += pass(t);
    pthread_barrier_wait(&barrier_);
  }
  return bad != 0 ? &bad_ : NULL;
}

/* One call of MPI at a time, in turns so that all ranks take the threads in the same order. */
static void* in_turns(void* argument) {
  const int t = *(int*)argument;
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_mutex_lock(&mutex_);
    while (turn_ % (THREADS + 1) != t) pthread_cond_wait(&changed_, &mutex_);
    bad_ += pass(9);
    ++turn_;
    pthread_cond_broadcast(&changed_);
    pthread_mutex_unlock(&mutex_);
  }
  return NULL;
}

/* The mutex is held during a call that waits for another rank. */
static void* with_mutex(void* argument) {
  const int t = *(int*)argument;
  for (int i = 0; i < ROUNDS; ++i) {
    pthread_mutex_lock(&mutex_);
    MPI_Request r[2];
    int got = -1, out = rank_ * 10 + t;
    MPI_Irecv(&got, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r[0]);
    MPI_Isend(&out, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    bad_ += got != out;
    pthread_mutex_unlock(&mutex_);
  }
  return NULL;
}

static void* posts(void* argument) {
  const int t = *(int*)argument;
  MPI_Allreduce(&rank_, &sums_[t], 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
  bad_ += t == 0 && pass(7);
  sem_post(&ready_);
  return NULL;
}

/* A condition variable's clock is the one it was made with: nobody signals, so a wait takes its time. */
static void wait_by(clockid_t clock) {
  pthread_condattr_t attributes;
  pthread_cond_t never;
  struct timespec begun, until, now;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, clock);
  pthread_cond_init(&never, &attributes);
  clock_gettime(clock, &begun);
  until = begun;
  until.tv_nsec += 5000000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, ++until.tv_sec;
  pthread_mutex_lock(&mutex_);
  int result = 0;
  while (result == 0) result = pthread_cond_timedwait(&never, &mutex_, &until);
  pthread_mutex_unlock(&mutex_);
  clock_gettime(clock, &now);
  CHECK_EQUAL(result, ETIMEDOUT);
  CHECK(now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec));
  CHECK(now.tv_sec - begun.tv_sec < 60); /* by the other clock it would be years, or nothing */
  pthread_cond_destroy(&never);
  pthread_condattr_destroy(&attributes);
}

static void run(void* (*body)(void*), void (*meanwhile)(void)) {
  pthread_t threads[THREADS];
  int numbers[THREADS];
  for (int t = 0; t < THREADS; ++t) {
    numbers[t] = t;
    pthread_create(&threads[t], NULL, body, &numbers[t]);
  }
  meanwhile();
  for (int t = 0; t < THREADS; ++t) {
    void* result = NULL;
    pthread_join(threads[t], &result);
    CHECK(result == NULL);
  }
  CHECK_EQUAL(bad_, 0);
}

static void at_barriers(void) {
  for (int i = 0; i < ROUNDS; ++i) pthread_barrier_wait(&barrier_);
}
static void last_in_turn(void) {
  int number = THREADS;
  in_turns(&number);
}
static void beside(void) {
  int number = THREADS;
  with_mutex(&number);
}
static void until_ready(void) {
  for (int t = 0; t < THREADS; ++t)
    while (sem_wait(&ready_) != 0) continue;
  for (int t = 0; t < THREADS; ++t) CHECK_EQUAL(sums_[t], rank_);
}

int main(int argc, char** argv) {
  begin_with_threads(&argc, &argv);
  pthread_barrier_init(&barrier_, NULL, THREADS + 1);
  sem_init(&ready_, 0, 0);
  run(with_barriers, at_barriers);
  run(in_turns, last_in_turn);
  run(with_mutex, beside);
  run(posts, until_ready);
  wait_by(CLOCK_MONOTONIC);
  wait_by(CLOCK_REALTIME);
  sem_destroy(&ready_);
  pthread_barrier_destroy(&barrier_);
  return end();
}
