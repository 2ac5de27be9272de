/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks with values of their own, for a debugger; the argument says how they end: well, or by one that waits, aborts, or
   crashes. */
#include <mpi.h>
#include <string.h>

int of_rank;
static volatile int of_file;

int begin_rank(int rank) {
  of_rank = 100 + rank;
  of_file = 200 + rank;
  return of_rank + of_file;
}

int main(int argc, char** argv) {
  int rank = -1, got = 0;
  const char* end = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  got = begin_rank(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && strcmp(end, "wait") == 0) MPI_Recv(&got, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1 && strcmp(end, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (rank == 1 && strcmp(end, "crash") == 0) *(volatile int*)16 = got;
  MPI_Finalize();
  return got == 0;
}
