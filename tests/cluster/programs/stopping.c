// SPDX-License-Identifier: Apache-2.0
// Preloaded in all processes of a job: one in which SHOAL_STRESS_START is set stops at the start of a network library
// ("stopped", as under a debugger) or is killed there ("lost"); the others start it. Its threads begin late, as on a
// busy machine: what the job knows of this process then is what its first thread has told.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

typedef int create_function(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

struct late_thread {
  void* (*body)(void*);
  void* argument;
};

static void* begin_late(void* given) {
  const struct late_thread what = *(struct late_thread*)given;
  free(given);
  const struct timespec delay = {.tv_nsec = 200 * 1000 * 1000};
  nanosleep(&delay, NULL);
  return what.body(what.argument);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  create_function* const create = (create_function*)dlsym(RTLD_NEXT, "pthread_create");
  if (getenv("SHOAL_STRESS_START") == NULL) return create(thread, attributes, body, argument);
  struct late_thread* const late = malloc(sizeof *late);
  if (late == NULL) return EAGAIN;
  *late = (struct late_thread){body, argument};
  const int failure = create(thread, attributes, begin_late, late);
  if (failure != 0) free(late);
  return failure;
}

static void stop_if_asked(void) {
  const char* const what = getenv("SHOAL_STRESS_START");
  if (what != NULL) raise(*what == 'l' ? SIGKILL : SIGSTOP);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  stop_if_asked();
  int (*const start)(int*, char***, int, int*) =
      (int (*)(int*, char***, int, int*))dlsym(RTLD_DEFAULT, "PMPI_Init_thread");
  return start(argc, argv, required, provided);
}

int ucp_init_version(unsigned major, unsigned minor, const void* parameters, const void* config, void** context) {
  stop_if_asked();
  void* const library = dlopen("libucp.so.0", RTLD_LAZY | RTLD_NOLOAD);
  int (*const start)(unsigned, unsigned, const void*, const void*, void**) =
      (int (*)(unsigned, unsigned, const void*, const void*, void**))dlsym(library, "ucp_init_version");
  return start(major, minor, parameters, config, context);
}
