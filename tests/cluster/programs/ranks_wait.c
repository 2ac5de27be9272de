/* SPDX-License-Identifier: Apache-2.0 */
/* Four ranks or more of one process, each of which waits for another thing when the last one stops: for a debugger. */
#include <mpi.h>
#include <stdlib.h>

static int own;

void stop_here(void) { abort(); }

int await_message(int from, int tag) {
  int got = 0;
  MPI_Recv(&got, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return got;
}

int main(int argc, char** argv) {
  int rank, size;
  static double large[1 << 20];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  own = 100 + rank;
  if (rank == 0) own = await_message(1, 77);
  if (rank == 1) MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) MPI_Ssend(large, 1 << 20, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
  if (rank == size - 1) {
    for (int i = 0; i < 10; ++i) MPIX_Yield(); /* all others wait */
    stop_here();
  }
  if (rank > 2) own = await_message(MPI_ANY_SOURCE, MPI_ANY_TAG);
  MPI_Finalize();
  return own;
}
