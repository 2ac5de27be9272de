// SPDX-License-Identifier: Apache-2.0
// Preloaded in all processes of a job: one in which SHOAL_STRESS_START is set stops at the start of a network library
// ("stopped", as under a debugger) or is killed there ("lost"); the others start it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>

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
