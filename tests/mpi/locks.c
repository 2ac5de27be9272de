// SPDX-License-Identifier: Apache-2.0
// MPI_Win_lock of windows of all processes by threads of all processes: read, write, exclusively, so that a count is
// lost if a lock does not exclude, and the program does not end if a lock is lost. Any number of processes. Each window
// has a page of its own: MPICH 4.0 over UCX reads and writes other memory if a window does not start at a multiple of 16.
#include "bench/mpi/measure.h"

enum { k_threads = 3, k_rounds = 40 };
static MPI_Comm lanes[k_threads];

static void body(int thread) {
  long* count = aligned_alloc(4096, 4096);
  MPI_Win win;
  if (count == NULL) stop_program("no memory");
  *count = 0;
  MPI_Win_create(count, sizeof *count, sizeof *count, MPI_INFO_NULL, lanes[thread], &win);
  measured_begin();
  for (int i = 0; i < k_rounds * g_program.ranks; ++i) {
    long value = 0;
    const int target = (g_program.rank + 1 + i) % g_program.ranks;  // all of them at the same time
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
    MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_flush(target, win);
    ++value;
    MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win);
    MPI_Win_unlock(target, win);
  }
  MPI_Barrier(lanes[thread]);
  measured_end();
  long seen = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, g_program.rank, 0, win);
  MPI_Get(&seen, 1, MPI_LONG, g_program.rank, 0, 1, MPI_LONG, win);
  MPI_Win_unlock(g_program.rank, win);
  expect(seen == k_rounds * g_program.ranks, "an exclusive lock did not exclude");
  MPI_Win_free(&win);
  free(count);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", k_threads, "fixed"}};
  begin_program(argc, argv, "locks", options, 1);
  for (int t = 0; t < k_threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t]);
  run_threads(k_threads, body);
  for (int t = 0; t < k_threads; ++t) MPI_Comm_free(&lanes[t]);
  add_metric("seconds", "s", measured_seconds());
  return end_program();
}
