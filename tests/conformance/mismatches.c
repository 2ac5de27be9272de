/* SPDX-License-Identifier: Apache-2.0 */
/* Collective calls that do not fit together: the first half of the ranks (or each second one) makes one, the others another.
   A library may do anything; tests/cluster/mpi_ranks_test.cpp says what ours does. */
#include "check.h"

int main(int argc, char** argv) {
  int one[4] = {0}, all[256] = {0};
  begin(&argc, &argv);
  const char* const what = argc > 1 ? argv[1] : "none";
  const int first = argc > 2 ? rank_ % 2 == 0 : rank_ < size_ / 2;
  const int last = size_ - 1;
  if (strcmp(what, "kinds") == 0) {
    if (first)
      MPI_Bcast(one, 1, MPI_INT, 0, MPI_COMM_WORLD);
    else
      MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(what, "results") == 0) {
    if (first)
      MPI_Reduce(one, all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    else
      MPI_Allreduce(one, all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (strcmp(what, "roots") == 0) MPI_Bcast(one, 1, MPI_INT, first ? 0 : last, MPI_COMM_WORLD);
  if (strcmp(what, "operations") == 0) MPI_Allreduce(one, all, 1, MPI_INT, first ? MPI_SUM : MPI_MAX, MPI_COMM_WORLD);
  if (strcmp(what, "counts") == 0) MPI_Allreduce(one, all, first ? 1 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (strcmp(what, "shorter") == 0) MPI_Bcast(one, first ? 1 : 4, MPI_INT, 0, MPI_COMM_WORLD);
  if (strcmp(what, "longer") == 0) MPI_Bcast(one, first ? 4 : 1, MPI_INT, 0, MPI_COMM_WORLD);
  return end();
}
