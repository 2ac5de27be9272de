/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank has variables of its own, or (with the argument "shared": shoal mpirun --shared-globals) the ranks of a process
   have the same. What the C library keeps is a rank's own both ways. */
#include <unistd.h>

#include "check.h"

static int visits;
static int ended;

static void note_end(void) { ++ended; }

int main(int argc, char** argv) {
  int here = 1, options = 0;
  char mine[16];
  MPI_Info hint;
  MPI_Comm process;
  for (int c = getopt(argc, argv, "ab"); c != -1; c = getopt(argc, argv, "ab")) options += c == 'a' ? 1 : 10;
  ++visits;
  atexit(note_end);
  begin(&argc, &argv);
  MPI_Info_create(&hint);
  MPI_Info_set(hint, "mpi_hw_resource_type", "shoal://process");
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, hint, &process);
  MPI_Info_free(&hint);
  if (process != MPI_COMM_NULL) {
    MPI_Comm_size(process, &here);
    MPI_Comm_free(&process);
  }
  /* begin() has put the rank into a variable, too, so from here on it is a local one. */
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(mine, sizeof mine, "%d", rank);
  setenv("SHARED_GLOBALS_TEST", mine, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const int shared = optind < argc && strcmp(argv[optind], "shared") == 0;
  CHECK_EQUAL(visits, shared ? here : 1);
  CHECK_EQUAL(options, argc > 2 ? 11 : 0);
  CHECK(strcmp(getenv("SHARED_GLOBALS_TEST"), mine) == 0);
  CHECK_EQUAL(ended, 0);
  return end();
}
