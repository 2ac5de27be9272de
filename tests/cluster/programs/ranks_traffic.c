/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic that is known: each rank sends 10 messages of 1000 bytes to the next one; rank 0 computes for 50 ms before it
   sends the first, and posts 5 receives that come late; the last rank waits in a barrier. */
#include <mpi.h>

int main(int argc, char** argv) {
  char out[1000] = {0}, in[1000];
  MPI_Request late[5];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0)
    for (const double end = MPI_Wtime() + 0.05; MPI_Wtime() < end;) out[0] = (char)(out[0] * 3 + 1);
  if (rank != 0)
    for (int i = 0; i < 5; ++i) MPI_Recv(in, 1000, MPI_CHAR, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 10; ++i) MPI_Send(out, 1000, MPI_CHAR, next, i, MPI_COMM_WORLD);
  for (int i = rank == 0 ? 0 : 5; i < 10; ++i)
    MPI_Recv(in, 1000, MPI_CHAR, before, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 5; ++i) MPI_Irecv(in + i, 1, MPI_CHAR, before, 20, MPI_COMM_WORLD, &late[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 5; ++i) MPI_Send(out, 1, MPI_CHAR, next, 20, MPI_COMM_WORLD);
  MPI_Waitall(5, late, MPI_STATUSES_IGNORE);
  MPI_Finalize();
  return 0;
}
