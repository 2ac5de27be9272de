/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into MPI programs: names the loader, so that a shared object can also be started as a program, and has what the
   C library keeps in variables that programs read and write, so that each copy of the program has its own. */
#define SHOAL_WEAK __attribute__((weak))

#if defined(__x86_64__)
const char shoal_interpreter[] __attribute__((section(".interp"))) = "/lib64/ld-linux-x86-64.so.2";
#elif defined(__aarch64__)
const char shoal_interpreter[] __attribute__((section(".interp"))) = "/lib/ld-linux-aarch64.so.1";
#else
#error "the name of this system's loader is not known"
#endif

/* Started without a host, the program comes first in the order in which names are looked up, and the C library uses
   these, too. All three are one variable. */
SHOAL_WEAK char** environ;
extern char** __environ SHOAL_WEAK __attribute__((alias("environ")));
extern char** _environ SHOAL_WEAK __attribute__((alias("environ")));

extern void* __dso_handle __attribute__((visibility("hidden"))); /* what exit handlers of this copy are known by */

/* Of shoal-mpi-host. */
SHOAL_WEAK void shoal_mpi_host_begin(void* copy, char*** environment);

/* Before the program's own constructors. */
__attribute__((constructor(101))) static void begin(void) {
  if (shoal_mpi_host_begin != 0) shoal_mpi_host_begin(&__dso_handle, &environ);
}
