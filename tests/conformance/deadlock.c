/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that come to a stop, and one that only seems to: run by tests/cluster/mpi_ranks_test.cpp. */
#include <mpi.h>
#include <string.h>
#include <unistd.h>

static __attribute__((noinline)) void receive(int from, int tag) {
  int x = 0;
  MPI_Recv(&x, 1, MPI_INT, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void send_much(int to, int tag) {
  static double numbers[100000];
  MPI_Request request;
  MPI_Isend(numbers, 100000, MPI_DOUBLE, to, tag, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "sleep") == 0) {
    const int x = 1;
    if (rank != 0) receive(0, 7);
    if (rank == 0) sleep(12); /* longer than a job may stand still without a report */
    for (int to = 1; rank == 0 && to < size; ++to) MPI_Send(&x, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
  } else if (argc > 1 && strcmp(argv[1], "end") == 0) {
    if (rank != 0) MPI_Barrier(MPI_COMM_WORLD); /* which MPI_Finalize does not stand for */
  } else if (rank == 0) {
    receive(1, 7);
  } else if (rank == 1) {
    send_much(0, 3);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
