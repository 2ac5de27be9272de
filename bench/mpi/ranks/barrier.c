// SPDX-License-Identifier: Apache-2.0
// Time of a barrier of all ranks. Between batches it is verified that nobody leaves it before the last one, who is late,
// has come: by the clock that all ranks of a machine share.
#include "ranks.h"

static void verify_barrier(MPI_Comm machine, int turn) {
  int ranks, rank;
  MPI_Comm_size(machine, &ranks);
  MPI_Comm_rank(machine, &rank);
  if (rank == turn % ranks) {
    const long long until = now_ns() + 100000;
    while (now_ns() < until) {
    }
  }
  long long times[2] = {now_ns(), 0}, latest[2];
  MPI_Barrier(machine);
  times[1] = -now_ns();
  MPI_Allreduce(times, latest, 2, MPI_LONG_LONG, MPI_MAX, machine);
  expect(-latest[1] >= latest[0], "a rank left the barrier before another one had come");
}

int main(int argc, char** argv) {
  begin_program(argc, argv, "barrier", NULL, 0);
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  const long long until = deadline_ns();
  long long took = 0;
  int turn = 0;
  for (int batch; (batch = common_batch(until, took)) > 0;) {
    verify_barrier(machine, turn++);
    MPI_Barrier(MPI_COMM_WORLD);
    const long long start = now_ns();
    for (int i = 0; i < batch; ++i) MPI_Barrier(MPI_COMM_WORLD);
    took = now_ns() - start;
    if (g_program.rank == 0) add_sample((double)took / batch / 1e3);
  }
  MPI_Comm_free(&machine);
  add_metric("barrier_us", "us", median_sample());
  return end_program();
}
