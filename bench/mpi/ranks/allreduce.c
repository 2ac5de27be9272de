// SPDX-License-Identifier: Apache-2.0
// Time of a sum of doubles over all ranks. The first and the last element are verified each time, all between batches.
#include "ranks.h"

static double expected(int element, int turn) {
  const double n = g_program.ranks;
  return n * (n - 1) / 2 + n * (element + turn);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"bytes", 8, "per rank, a multiple of 8"}};
  begin_program(argc, argv, "allreduce", options, 1);
  const int bytes = option_count("bytes"), count = bytes / 8;
  if (count < 1 || bytes % 8 != 0) stop_program("bytes: a multiple of 8");
  double* const mine = allocate((size_t)bytes);
  double* const sum = allocate((size_t)bytes);
  const long long until = deadline_ns();
  long long took = 0;
  int turn = 0;
  for (int batch; (batch = common_batch(until, took)) > 0;) {
    ++turn;
    for (int i = 0; i < count; ++i) mine[i] = g_program.rank + i + turn;
    memset(sum, 0, (size_t)bytes);
    MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    int right = 1;
    for (int i = 0; i < count; ++i) right &= sum[i] == expected(i, turn);
    expect(right, "a sum is wrong");
    MPI_Barrier(MPI_COMM_WORLD);
    const long long start = now_ns();
    for (int i = 0; i < batch; ++i) {
      sum[0] = sum[count - 1] = 0;
      MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      expect(sum[0] == expected(0, turn) && sum[count - 1] == expected(count - 1, turn), "a sum is wrong");
    }
    took = now_ns() - start;
    if (g_program.rank == 0) add_sample((double)took / batch / 1e3);
  }
  free(mine);
  free(sum);
  add_metric("allreduce_us", "us", median_sample());
  return end_program();
}
