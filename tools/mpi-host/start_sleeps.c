/* SPDX-License-Identifier: Apache-2.0 */
/* A rank that sleeps, gives its processor away, or waits for a descriptor lets other ranks run. Linked into programs, for
   calls in their own code, the inline ones of std::this_thread among them; threads, and a process's only rank, get the C
   library's functions. What sleeps within another library keeps the worker. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/select.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "start_waits.h"

typedef unsigned long long u64;

/* Of shoal-mpi-host. 0: the caller is no rank, or nobody else needs its worker; 1: the time is over; 2: a signal has come;
   3: one whose handler has SA_RESTART. */
__attribute__((weak)) int shoal_mpi_host_sleep(u64 until_ns);
/* What that counts: CLOCK_MONOTONIC, or a simulated machine's time. */
__attribute__((weak)) u64 shoal_mpi_host_sleep_clock(void);
enum { NO_RANK, IN_TIME, INTERRUPTED, TO_RESTART };

#define SECOND 1000000000ULL
static u64 ns_of(const struct timespec* t) { return (u64)t->tv_sec * SECOND + (u64)t->tv_nsec; }
static struct timespec timespec_of(u64 ns) { return (struct timespec){(time_t)(ns / SECOND), (long)(ns % SECOND)}; }
static u64 now_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return ns_of(&now);
}
static u64 now_ns(void) {
  return shoal_mpi_host_sleep_clock == NULL ? now_of(CLOCK_MONOTONIC) : shoal_mpi_host_sleep_clock();
}
static u64 later(u64 ns, u64 by) { return ns + by < ns ? ~0ULL : ns + by; }
static u64 left_ns(u64 until) {
  const u64 now = now_ns();
  return now < until ? until - now : 0;
}
static int is_valid(const struct timespec* t) {
  return t != NULL && t->tv_sec >= 0 && t->tv_nsec >= 0 && t->tv_nsec < (long)SECOND;
}
static int sleep_until(u64 until) { return shoal_mpi_host_sleep == NULL ? NO_RANK : shoal_mpi_host_sleep(until); }

OWN int nanosleep(const struct timespec* time, struct timespec* left) {
  NEXT(int, nanosleep, (const struct timespec*, struct timespec*));
  if (!is_valid(time)) return next(time, left);
  const u64 until = later(now_ns(), ns_of(time));
  const int how = sleep_until(until);
  if (how == NO_RANK) return next(time, left);
  if (how == IN_TIME) return 0;
  if (left != NULL) *left = timespec_of(left_ns(until));
  errno = EINTR;
  return -1;
}

OWN int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time, struct timespec* left) {
  NEXT(int, clock_nanosleep, (clockid_t, int, const struct timespec*, struct timespec*));
  if (!is_valid(time) || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME)) return next(clock, flags, time, left);
  const int absolute = (flags & TIMER_ABSTIME) != 0;
  u64 by = ns_of(time);
  if (absolute) {
    const u64 now = now_of(clock);
    by = by > now ? by - now : 0;
  }
  const u64 until = later(now_ns(), by);
  const int how = sleep_until(until);
  if (how == NO_RANK) return next(clock, flags, time, left);
  if (how == IN_TIME) return 0;
  if (!absolute && left != NULL) *left = timespec_of(left_ns(until));
  return EINTR;
}

OWN int usleep(useconds_t us) {
  const struct timespec time = timespec_of((u64)us * 1000);
  return nanosleep(&time, NULL);
}

OWN unsigned sleep(unsigned seconds) {
  struct timespec time = {(time_t)seconds, 0};
  if (nanosleep(&time, &time) == 0) return 0;
  return (unsigned)time.tv_sec + (time.tv_nsec >= (long)SECOND / 2 ? 1 : 0);
}

OWN int thrd_sleep(const struct timespec* time, struct timespec* left) {
  const int result = nanosleep(time, left);
  return result == 0 ? 0 : errno == EINTR ? -1 : -2;
}

OWN int sched_yield(void) {
  NEXT(int, sched_yield, (void));
  if (shoal_mpi_host_give_way == NULL || !shoal_mpi_host_give_way()) return next();
  return shoal_mpi_host_is_alone() ? next() : 0;
}

OWN int pthread_yield(void) { return sched_yield(); }
OWN void thrd_yield(void) { sched_yield(); }

/* Between two looks at descriptors: longer and longer, so that a long wait takes little of the processor. */
enum { FIRST_PAUSE_NS = 20000, LONGEST_PAUSE_NS = 1000000 };
struct wait {
  u64 until, pause;
};
static struct wait wait_until(u64 until) { return (struct wait){until, FIRST_PAUSE_NS}; }
static int go_on(struct wait* w) {
  const u64 look = later(now_ns(), w->pause);
  if (w->pause < LONGEST_PAUSE_NS) w->pause *= 2;
  return sleep_until(look < w->until ? look : w->until);
}
static int is_over(const struct wait* w) { return now_ns() >= w->until; }
static int is_interrupted(int how) { return how == INTERRUPTED || how == TO_RESTART; }

static int poll_until(struct pollfd* all, nfds_t count, int milliseconds, int restarts) {
  NEXT(int, poll, (struct pollfd*, nfds_t, int));
  if (milliseconds == 0) return next(all, count, 0);
  struct wait w = wait_until(milliseconds < 0 ? ~0ULL : later(now_ns(), (u64)milliseconds * 1000000));
  for (;;) {
    const int ready = next(all, count, 0);
    if (ready != 0 || is_over(&w)) return ready;
    const int how = go_on(&w);
    if (how == NO_RANK) return restarts ? 1 : next(all, count, milliseconds); /* the first time, if ever */
    if (is_interrupted(how) && !(restarts && how == TO_RESTART)) {
      errno = EINTR;
      return -1;
    }
  }
}

OWN int poll(struct pollfd* all, nfds_t count, int milliseconds) { return poll_until(all, count, milliseconds, 0); }

/* With a mask of signals it is the C library's: the mask would be other ranks', too. */
OWN int ppoll(struct pollfd* all, nfds_t count, const struct timespec* time, const sigset_t* mask) {
  NEXT(int, ppoll, (struct pollfd*, nfds_t, const struct timespec*, const sigset_t*));
  const u64 milliseconds = time == NULL ? 0 : is_valid(time) ? (ns_of(time) + 999999) / 1000000 : ~0ULL;
  if (mask != NULL || milliseconds > 0x7fffffff || sleep_until(0) == NO_RANK) return next(all, count, time, mask);
  return poll_until(all, count, time == NULL ? -1 : (int)milliseconds, 0);
}

OWN int select(int count, fd_set* restrict in, fd_set* restrict out, fd_set* restrict other,
               struct timeval* restrict time) {
  NEXT(int, select, (int, fd_set* restrict, fd_set* restrict, fd_set* restrict, struct timeval* restrict));
  if (time != NULL && (time->tv_sec < 0 || time->tv_usec < 0 || (time->tv_sec == 0 && time->tv_usec == 0)))
    return next(count, in, out, other, time);
  const fd_set wanted_in = in != NULL ? *in : (fd_set){{0}}, wanted_out = out != NULL ? *out : (fd_set){{0}},
               wanted_other = other != NULL ? *other : (fd_set){{0}};
  struct wait w =
      wait_until(time == NULL ? ~0ULL : later(now_ns(), (u64)time->tv_sec * SECOND + (u64)time->tv_usec * 1000));
  for (;;) {
    struct timeval none = {0, 0};
    const int ready = next(count, in, out, other, &none);
    if (ready != 0 || is_over(&w)) {
      if (time != NULL) { /* as Linux does */
        const u64 left = left_ns(w.until);
        *time = (struct timeval){(time_t)(left / SECOND), (suseconds_t)(left % SECOND / 1000)};
      }
      return ready;
    }
    if (in != NULL) *in = wanted_in;
    if (out != NULL) *out = wanted_out;
    if (other != NULL) *other = wanted_other;
    const int how = go_on(&w);
    if (how == NO_RANK) return next(count, in, out, other, time);
    if (is_interrupted(how)) {
      errno = EINTR;
      return -1;
    }
  }
}

/* Of a pipe, a socket, a terminal that has nothing yet. */
OWN ssize_t read(int descriptor, void* into, size_t bytes) {
  NEXT(ssize_t, read, (int, void*, size_t));
  if (shoal_mpi_host_sleep == NULL) return next(descriptor, into, bytes);
  struct pollfd one = {descriptor, POLLIN, 0};
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0 && (flags & O_NONBLOCK) == 0 && poll_until(&one, 1, -1, 1) < 0 && errno == EINTR) return -1;
  return next(descriptor, into, bytes);
}
