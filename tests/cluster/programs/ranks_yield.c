/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 waits for a variable that rank 1 of its process sets, and lets it run meanwhile. */
#include <mpi.h>
#include <stdint.h>

int main(int argc, char** argv) {
  volatile int flag = 0;
  intptr_t at = (intptr_t)&flag;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Bcast(&at, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    while (flag == 0)
      if (MPIX_Yield() != MPI_SUCCESS || PMPIX_Yield() != MPI_SUCCESS) return 1;
  } else if (rank == 1) {
    for (int i = 0; i < 1000; ++i) MPIX_Yield();
    *(volatile int*)at = 1;
  }
  MPI_Finalize();
  return 0;
}
