/* SPDX-License-Identifier: Apache-2.0 */
/* How the main thread of a rank waits for threads that it has made. Their calls of MPI run on the worker that it is a task
   of, so while it waits it lets other tasks run there. Linked into programs, for calls in their own code; any other
   thread gets the C library's function. What waits within another library (OpenMP's barriers) keeps the worker. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "start_waits.h"

/* Here only without other ranks. */
static int pauses(int turn) { return turn >= SHORT_TURNS && shoal_mpi_host_is_alone(); }
static struct timespec soon(int turn) {
  struct timespec at = {0, 0};
  if (!pauses(turn)) return at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_nsec += PAUSE_NS;
  at.tv_sec += at.tv_nsec / 1000000000;
  at.tv_nsec %= 1000000000;
  return at;
}
static void pause_at(int turn) {
  const struct timespec time = {0, PAUSE_NS};
  if (pauses(turn)) nanosleep(&time, NULL);
}

OWN int pthread_mutex_lock(pthread_mutex_t* m) {
  NEXT(int, pthread_mutex_lock, (pthread_mutex_t*));
  int result = pthread_mutex_trylock(m);
  if (result != EBUSY) return result;
  if (!gives_way()) return next(m);
  for (int turn = 0;; ++turn) {
    const struct timespec until = soon(turn);
    result = pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &until);
    if (result != ETIMEDOUT) return result;
    gives_way();
  }
}

/* It returns without a reason, as any condition variable may: its caller looks, and waits again. The C library's would
   wait for the mutex itself. */
OWN int pthread_cond_wait(pthread_cond_t* c, pthread_mutex_t* m) {
  NEXT(int, pthread_cond_wait, (pthread_cond_t*, pthread_mutex_t*));
  if (!gives_way()) return next(c, m);
  const int result = pthread_mutex_unlock(m);
  if (result != 0) return result;
  for (int turn = SHORT_TURNS - 20; turn <= SHORT_TURNS; ++turn) {
    gives_way();
    pause_at(turn);
  }
  return pthread_mutex_lock(m);
}

/* The same with a limit. */
OWN int pthread_cond_clockwait(pthread_cond_t* c, pthread_mutex_t* m, clockid_t clock, const struct timespec* until) {
  NEXT(int, pthread_cond_clockwait, (pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*));
  if (!gives_way()) return next(c, m, clock, until);
  struct timespec now;
  clock_gettime(clock, &now);
  const int over = now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
  const int result = pthread_cond_wait(c, m);
  return result == 0 && over ? ETIMEDOUT : result;
}

/* What pthread_condattr_setclock() has said: glibc keeps it in a bit of the object, since version 2.25. */
static clockid_t clock_of(const pthread_cond_t* c) {
  enum { MONOTONIC = 2 };
  return (c->__data.__wrefs & MONOTONIC) != 0 ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}

OWN int pthread_cond_timedwait(pthread_cond_t* restrict c, pthread_mutex_t* restrict m,
                               const struct timespec* restrict until) {
  NEXT(int, pthread_cond_timedwait,
       (pthread_cond_t* restrict, pthread_mutex_t* restrict, const struct timespec* restrict));
  if (!gives_way()) return next(c, m, until);
  return pthread_cond_clockwait(c, m, clock_of(c), until);
}

/* std::condition_variable::wait(std::unique_lock<std::mutex>&), which libstdc++ has not inline. */
struct unique_lock {
  pthread_mutex_t* mutex;
  _Bool owns;
};
OWN void wait_of_condition_variable(pthread_cond_t* c, struct unique_lock* lock) __asm__(
    "_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE");
OWN void wait_of_condition_variable(pthread_cond_t* c, struct unique_lock* lock) { pthread_cond_wait(c, lock->mutex); }

OWN int sem_wait(sem_t* s) {
  NEXT(int, sem_wait, (sem_t*));
  if (sem_trywait(s) == 0) return 0;
  if (errno != EAGAIN || !gives_way()) return next(s);
  for (int turn = 0;; ++turn) {
    const struct timespec until = soon(turn);
    if (sem_clockwait(s, CLOCK_MONOTONIC, &until) == 0) return 0;
    if (errno != ETIMEDOUT) return -1;
    gives_way();
  }
}

/* A barrier, to which all come by these functions. */
struct barrier {
  unsigned needed;
  _Atomic unsigned arrived, round, inside;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "it lies in one");
static struct barrier* own(pthread_barrier_t* b) { return (struct barrier*)(void*)b; }

OWN int pthread_barrier_init(pthread_barrier_t* restrict b, const pthread_barrierattr_t* restrict a, unsigned count) {
  (void)a; /* whether processes share it makes no difference */
  if (count == 0) return EINVAL;
  own(b)->needed = count;
  atomic_init(&own(b)->arrived, 0);
  atomic_init(&own(b)->round, 0);
  atomic_init(&own(b)->inside, 0);
  return 0;
}

static void futex(_Atomic unsigned* at, int operation, unsigned value) {
  syscall(SYS_futex, at, operation, value, NULL, NULL, 0);
}

OWN int pthread_barrier_wait(pthread_barrier_t* of) {
  struct barrier* const b = own(of);
  atomic_fetch_add(&b->inside, 1);
  const unsigned round = atomic_load(&b->round);
  const int last = atomic_fetch_add(&b->arrived, 1) + 1 == b->needed;
  if (last) {
    atomic_store(&b->arrived, 0);
    atomic_store(&b->round, round + 1);
    futex(&b->round, FUTEX_WAKE, 0x7fffffff);
  }
  for (int turn = 0; !last && atomic_load(&b->round) == round; ++turn) {
    if (gives_way())
      pause_at(turn);
    else
      futex(&b->round, FUTEX_WAIT, round);
  }
  atomic_fetch_sub(&b->inside, 1);
  return last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* Others may still be on their way out. */
OWN int pthread_barrier_destroy(pthread_barrier_t* b) {
  while (atomic_load(&own(b)->inside) != 0) sched_yield();
  return 0;
}
