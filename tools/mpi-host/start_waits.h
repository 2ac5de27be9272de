/* SPDX-License-Identifier: Apache-2.0 */
/* For the objects that are linked into programs: functions that take the place of the C library's in the program's own
   code, and how the main thread of a rank waits. */
#ifndef SHOAL_TOOLS_MPI_HOST_START_WAITS_H
#define SHOAL_TOOLS_MPI_HOST_START_WAITS_H

#include <dlfcn.h>
#include <stddef.h>

#define OWN __attribute__((weak, visibility("hidden")))

/* `next`: the C library's function of that name. */
#define NEXT(result, name, parameters) \
  static result(*next) parameters;     \
  if (next == NULL) next = (result(*) parameters)(dlsym(RTLD_DEFAULT, #name))

/* Of shoal-mpi-host: whether the caller is a rank's main thread, and then others have run; whether its process has no
   other rank. */
__attribute__((weak)) int shoal_mpi_host_give_way(void);
__attribute__((weak)) int shoal_mpi_host_is_alone(void);

static inline int gives_way(void) { return shoal_mpi_host_give_way != NULL && shoal_mpi_host_give_way(); }

/* After so many turns a wait takes some time between two. */
enum { SHORT_TURNS = 200, PAUSE_NS = 50000 };

#endif
