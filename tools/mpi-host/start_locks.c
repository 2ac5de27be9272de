/* SPDX-License-Identifier: Apache-2.0 */
/* Waits of the main thread of a rank that have a limit or are seldom used: timed locks, locks of readers and writers, spin
   locks, timed semaphores and joins, those of C11, futexes (std::atomic::wait, std::latch, std::barrier,
   std::counting_semaphore) and std::future. As start_threads.c: others run on the worker meanwhile, and any other thread
   gets the C library's function. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "start_waits.h"

/* One turn of a wait: others run. After some turns the rank sleeps for a while, so that the processor is free if no other
   has anything to do. */
static void turn(int number) {
  const struct timespec time = {0, PAUSE_NS};
  gives_way();
  if (number >= SHORT_TURNS) nanosleep(&time, NULL); /* start_sleeps.c */
}
/* Waits that may return without a reason do so after so many turns, about a millisecond. */
enum { MOST_TURNS = SHORT_TURNS + 20 };

#define SECOND 1000000000LL
static int is_valid(const struct timespec* t) { return t != NULL && t->tv_nsec >= 0 && t->tv_nsec < SECOND; }
static int is_over(clockid_t clock, const struct timespec* until) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec > until->tv_sec || (now.tv_sec == until->tv_sec && now.tv_nsec >= until->tv_nsec);
}

/* Tries again until the result is not BUSY; no limit if `until` is null. */
static int wait_for(int (*try)(void*), void* object, clockid_t clock, const struct timespec* until) {
  for (int number = 0;; ++number) {
    const int result = try(object);
    if (result != EBUSY && result != ETIMEDOUT) return result;
    if (until != NULL && is_over(clock, until)) return ETIMEDOUT;
    turn(number);
  }
}

/* With a limit that is over they only try, and know their errors better than the functions that do. */
static const struct timespec long_ago = {0, 0};
static int try_mutex(void* m) {
  NEXT(int, pthread_mutex_clocklock, (pthread_mutex_t*, clockid_t, const struct timespec*));
  return next(m, CLOCK_MONOTONIC, &long_ago);
}
static int try_to_read(void* l) {
  NEXT(int, pthread_rwlock_clockrdlock, (pthread_rwlock_t*, clockid_t, const struct timespec*));
  return next(l, CLOCK_MONOTONIC, &long_ago);
}
static int try_to_write(void* l) {
  NEXT(int, pthread_rwlock_clockwrlock, (pthread_rwlock_t*, clockid_t, const struct timespec*));
  return next(l, CLOCK_MONOTONIC, &long_ago);
}
static int try_to_spin(void* l) { return pthread_spin_trylock(l); }
static int try_semaphore(void* s) { return sem_trywait(s) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno; }

/* NAME(object, [clock,] until): `parameters` and `given` are of the C library's function. */
#define TIMED(name, type, try, parameters, given, clock)                                      \
  OWN int name parameters {                                                                   \
    NEXT(int, name, parameters);                                                              \
    const int result = try(object);                                                           \
    if (result != EBUSY && result != ETIMEDOUT) return result;                                \
    return is_valid(until) && gives_way() ? wait_for(try, object, clock, until) : next given; \
  }
#define TIMED_LOCK(prefix, kind, type, try)                                                                      \
  TIMED(prefix##_timed##kind, type, try, (type* restrict object, const struct timespec* restrict until),         \
        (object, until), CLOCK_REALTIME)                                                                         \
  TIMED(prefix##_clock##kind, type, try,                                                                         \
        (type* restrict object, clockid_t clock, const struct timespec* restrict until), (object, clock, until), \
        clock)

TIMED_LOCK(pthread_mutex, lock, pthread_mutex_t, try_mutex)
TIMED_LOCK(pthread_rwlock, rdlock, pthread_rwlock_t, try_to_read)
TIMED_LOCK(pthread_rwlock, wrlock, pthread_rwlock_t, try_to_write)

#define UNTIMED(name, type, try)                                               \
  OWN int name(type* object) {                                                 \
    NEXT(int, name, (type*));                                                  \
    const int result = try((void*)object);                                     \
    if (result != EBUSY && result != ETIMEDOUT) return result;                 \
    return gives_way() ? wait_for(try, (void*)object, 0, NULL) : next(object); \
  }
UNTIMED(pthread_rwlock_rdlock, pthread_rwlock_t, try_to_read)
UNTIMED(pthread_rwlock_wrlock, pthread_rwlock_t, try_to_write)
UNTIMED(pthread_spin_lock, pthread_spinlock_t, try_to_spin)

static int with_errno(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}
OWN int sem_clockwait(sem_t* restrict s, clockid_t clock, const struct timespec* restrict until) {
  NEXT(int, sem_clockwait, (sem_t* restrict, clockid_t, const struct timespec* restrict));
  if (sem_trywait(s) == 0) return 0;
  if (!is_valid(until) || !gives_way()) return next(s, clock, until);
  return with_errno(wait_for(try_semaphore, s, clock, until));
}
OWN int sem_timedwait(sem_t* restrict s, const struct timespec* restrict until) {
  return sem_clockwait(s, CLOCK_REALTIME, until);
}

struct joined {
  pthread_t thread;
  void** result;
};
static int try_to_join(void* of) {
  const struct joined* const j = of;
  return pthread_tryjoin_np(j->thread, j->result);
}
OWN int pthread_clockjoin_np(pthread_t thread, void** result, clockid_t clock, const struct timespec* until) {
  NEXT(int, pthread_clockjoin_np, (pthread_t, void**, clockid_t, const struct timespec*));
  struct joined j = {thread, result};
  if (!is_valid(until) || !gives_way()) return next(thread, result, clock, until);
  return wait_for(try_to_join, &j, clock, until);
}
OWN int pthread_timedjoin_np(pthread_t thread, void** result, const struct timespec* until) {
  return pthread_clockjoin_np(thread, result, CLOCK_REALTIME, until);
}

/* C11: in glibc they are those of pthreads, with results of their own. */
static int c11_of(int error) {
  return error == 0 ? thrd_success : error == ETIMEDOUT ? thrd_timedout : error == ENOMEM ? thrd_nomem : thrd_error;
}
OWN int mtx_lock(mtx_t* m) { return c11_of(pthread_mutex_lock((pthread_mutex_t*)m)); }
OWN int mtx_timedlock(mtx_t* restrict m, const struct timespec* restrict until) {
  return c11_of(pthread_mutex_timedlock((pthread_mutex_t*)m, until));
}
OWN int cnd_wait(cnd_t* c, mtx_t* m) { return c11_of(pthread_cond_wait((pthread_cond_t*)c, (pthread_mutex_t*)m)); }
OWN int cnd_timedwait(cnd_t* restrict c, mtx_t* restrict m, const struct timespec* restrict until) {
  return c11_of(pthread_cond_timedwait((pthread_cond_t*)c, (pthread_mutex_t*)m, until));
}

/* A wait for a futex, as libstdc++'s inline functions call it. It may return without a reason: they look, and wait again. */
static long wait_for_word(int* word, int operation, int value, const struct timespec* time) {
  struct timespec until = long_ago;
  const clockid_t clock = (operation & FUTEX_CLOCK_REALTIME) != 0 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
  if (time != NULL) {
    until = *time;
    if ((operation & FUTEX_CMD_MASK) == FUTEX_WAIT) { /* from now on */
      clock_gettime(clock, &until);
      until.tv_sec += time->tv_sec + (until.tv_nsec + time->tv_nsec) / SECOND;
      until.tv_nsec = (until.tv_nsec + time->tv_nsec) % SECOND;
    }
  }
  for (int number = 0; number <= MOST_TURNS; ++number) {
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return errno = EAGAIN, -1;
    if (time != NULL && is_over(clock, &until)) return errno = ETIMEDOUT, -1;
    turn(number);
  }
  return errno = EINTR, -1;
}

OWN long syscall(long number, ...) {
  NEXT(long, syscall, (long, ...));
  long a[6];
  va_list all;
  va_start(all, number);
  for (int i = 0; i < 6; ++i) a[i] = va_arg(all, long);
  va_end(all);
  if (number == SYS_futex) {
    const int command = (int)a[1] & FUTEX_CMD_MASK;
    if ((command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && gives_way())
      return wait_for_word((int*)a[0], (int)a[1], (int)a[2], (const struct timespec*)a[3]);
  }
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* std::future and std::promise wait in libstdc++, which has these functions; the time is that of the system's clock, or of
   the steady one. False: the time is over. */
#define FUTURE_WAIT(name, mangled, clock)                                                                              \
  OWN _Bool name(void* self, unsigned* word, unsigned value, _Bool has_limit, long seconds, long ns) __asm__(mangled); \
  OWN _Bool name(void* self, unsigned* word, unsigned value, _Bool has_limit, long seconds, long ns) {                 \
    static _Bool (*next)(void*, unsigned*, unsigned, _Bool, long, long);                                               \
    if (next == NULL) next = (_Bool(*)(void*, unsigned*, unsigned, _Bool, long, long))(dlsym(RTLD_DEFAULT, mangled));  \
    if (!gives_way()) return next(self, word, value, has_limit, seconds, ns);                                          \
    const struct timespec until = {seconds, ns};                                                                       \
    for (int number = 0; number <= MOST_TURNS; ++number) {                                                             \
      if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != value) return 1;                                                  \
      if (has_limit && is_over(clock, &until)) return 0;                                                               \
      turn(number);                                                                                                    \
    }                                                                                                                  \
    return 1;                                                                                                          \
  }
FUTURE_WAIT(future_wait,
            "_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_"
            "IlS3_ILl1ELl1000000000EEEE",
            CLOCK_REALTIME)
FUTURE_WAIT(
    future_wait_steady,
    "_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_"
    "IlS3_ILl1ELl1000000000EEEE",
    CLOCK_MONOTONIC)
