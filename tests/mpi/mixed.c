// SPDX-License-Identifier: Apache-2.0
// Processes of one job that ask for different levels: the first for MPI_THREAD_MULTIPLE, the others for what the
// argument says, or for MPI_Init. Collective calls of both are the same ones, blocking and not.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void right(int is, const char* what) {
  if (is) return;
  fprintf(stderr, "mixed: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char** argv) {
  const char* level = argc > 1 ? argv[1] : "init";
  int provided = MPI_THREAD_SINGLE, asked = MPI_THREAD_SINGLE, told = -1, rank, size;
  if (strcmp(level, "multiple") == 0) asked = MPI_THREAD_MULTIPLE;
  if (strcmp(level, "funneled") == 0) asked = MPI_THREAD_FUNNELED;
  if (strcmp(level, "init") == 0) {
    MPI_Init(&argc, &argv);
  } else {
    MPI_Init_thread(&argc, &argv, asked, &provided);
  }
  MPI_Query_thread(&told);
  right(told >= asked && (strcmp(level, "init") == 0 || told == provided), "another level is told than was provided");
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int root = 0; root < size; ++root) {
    int value = rank, sum = 0, other = rank;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    right(value == root, "a broadcast brought something else");
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    right(sum == size * (size - 1) / 2, "a sum is wrong");
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);
    MPI_Request request;
    MPI_Ibcast(&other, 1, MPI_INT, root, half, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    right(other == size - 1 - root, "another broadcast brought something else");
    long* memory;
    const long mine = rank + 5;
    MPI_Win win;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, half, &memory, &win);
    MPI_Win_fence(0, win);
    if (rank == root) MPI_Put(&mine, 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    right(rank != size - 1 || *memory == root + 5, "a window has something else");
    MPI_Win_free(&win);
    MPI_Comm_free(&half);
  }
  MPI_Finalize();
  printf("finished\n");
  return 0;
}
