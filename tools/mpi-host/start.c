/* SPDX-License-Identifier: Apache-2.0 */
/* Linked into MPI programs: names the loader, so that a shared object can also be started as a program, and has what the
   C library keeps in variables that programs read and write, so that each copy of the program has its own. */
#include "start.h"

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

/* libstdc++'s cout, cerr and clog, with the formats that a program sets in them. */
struct output_stream {
  void* words[SHOAL_STREAM_BYTES / sizeof(void*)];
};
SHOAL_WEAK struct output_stream shoal_cout __asm__("_ZSt4cout");
SHOAL_WEAK struct output_stream shoal_cerr __asm__("_ZSt4cerr");
SHOAL_WEAK struct output_stream shoal_clog __asm__("_ZSt4clog");

/* What the host calls. A program that is compiled with -fvisibility=hidden does not show its main(). */
extern int main(int argc, char** argv, char** environment);
int (*const shoal_mpi_main)(int, char**, char**) = main;

extern void* __dso_handle __attribute__((visibility("hidden"))); /* what exit handlers of this copy are known by */

SHOAL_WEAK void shoal_mpi_host_begin(const struct shoal_copy* copy); /* of shoal-mpi-host */

/* Before the program's own constructors. */
__attribute__((constructor(101))) static void begin(void) {
  static struct shoal_copy mine;
  mine.handle = &__dso_handle;
  mine.environment = &environ;
  mine.streams[0] = &shoal_cout;
  mine.streams[1] = &shoal_cerr;
  mine.streams[2] = &shoal_clog;
  if (shoal_mpi_host_begin != 0) shoal_mpi_host_begin(&mine);
}
