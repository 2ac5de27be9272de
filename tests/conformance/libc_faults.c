/* SPDX-License-Identifier: Apache-2.0 */
/* Ends, or does what is to be warned about, in rank 1, as the first argument says. tests/cluster/mpi_ranks_test.cpp reads
   the messages. */
#include <assert.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static char* volatile nothing;
static volatile int zero;

static int descend(int n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  return n == 0 ? 0 : descend(n + 1) + frame[5];
}

void fail_here(const char* how) {
  if (strcmp(how, "access") == 0) *nothing = 1;
  if (strcmp(how, "library") == 0) printf("%zu\n", strlen(nothing));
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "assert") == 0) assert(zero == 1);
  if (strcmp(how, "divide") == 0) printf("%d\n", 5 / zero);
  if (strcmp(how, "deep") == 0) printf("%d\n", descend(1));
  if (strcmp(how, "exit") == 0) exit(5);
  if (strcmp(how, "quick") == 0) _exit(6);
  if (strcmp(how, "folder") == 0 && chdir("/") != 0) abort();
  if (strcmp(how, "own folder") == 0 && chdir(".") != 0) abort();
  while (strcmp(how, "endless") == 0) zero = 0;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 1) fail_here(argv[1]);
  return end();
}
