/* SPDX-License-Identifier: Apache-2.0 */
/* MPI_Abort while the network takes nothing more: the other process computes, and rank 0 has sent it more than fits. For
   tests/cluster/mpi_ranks_test.cpp, with two processes. */
#include "check.h"

int main(int argc, char** argv) {
  static char at[8000];
  begin(&argc, &argv);
  const double start = MPI_Wtime();
  if (rank_ >= size_ / 2)
    while (MPI_Wtime() - start < 30) continue;
  if (rank_ == 0)
    for (int i = 0; i < 100000; ++i) {
      MPI_Request sending;
      MPI_Isend(at, i % 8000, MPI_CHAR, size_ - 1, 0, MPI_COMM_WORLD, &sending);
      MPI_Request_free(&sending);
    }
  while (MPI_Wtime() - start < 0.5) {
    int flag;
    MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  }
  MPI_Abort(MPI_COMM_WORLD, argc > 1 ? atoi(argv[1]) : 6);
  return 0;
}
