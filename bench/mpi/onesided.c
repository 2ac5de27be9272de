// SPDX-License-Identifier: Apache-2.0
// One-sided operations with a thread that does nothing but drive MPI: each process's worker puts to, gets from or
// accumulates into the next process's window, in windows of operations ended by a flush, while the other thread of the
// target is inside MPI (a receive that ends with the run). Contents and sums are verified.
#include "measure.h"

enum { k_put, k_get, k_accumulate };

static int operation, window, words, progress;
static MPI_Win win;
static int64_t* memory;
static atomic_llong operations;

static void work(void) {
  const int target = (g_program.rank + 1) % g_program.ranks, source = g_program.rank;
  int64_t* local = calloc((size_t)window * (size_t)words, sizeof *local);
  if (local == NULL) stop_program("out of memory");
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  long long rounds = 0;
  measured_begin();
  while (rounds == 0 || now_ns() < until) {
    for (int i = 0; i < window; ++i) {
      int64_t* mine = local + (size_t)i * (size_t)words;
      const MPI_Aint at = (MPI_Aint)i * words;
      for (int w = 0; w < words && operation != k_get; ++w)
        mine[w] = operation == k_put ? rounds * window + i + w + source : 1;
      if (operation == k_put) MPI_Put(mine, words, MPI_INT64_T, target, at, words, MPI_INT64_T, win);
      if (operation == k_get) MPI_Get(mine, words, MPI_INT64_T, target, at, words, MPI_INT64_T, win);
      if (operation == k_accumulate) {
        MPI_Accumulate(mine, words, MPI_INT64_T, target, at, words, MPI_INT64_T, MPI_SUM, win);
      }
    }
    MPI_Win_flush(target, win);
    ++rounds;
    for (int i = 0; i < window * words && operation == k_get; ++i) {
      expect(local[i] == (int64_t)(i % words) + i / words + target, "a value that was got is not the one there");
    }
  }
  measured_end();
  atomic_fetch_add(&operations, rounds * window);
  long long theirs = 0;  // how many rounds the process before us made on our memory
  MPI_Sendrecv(&rounds, 1, MPI_LONG_LONG, target, 1, &theirs, 1, MPI_LONG_LONG,
               (source + g_program.ranks - 1) % g_program.ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Win_sync(win);
  const int before = (source + g_program.ranks - 1) % g_program.ranks;
  for (int i = 0; i < window; ++i) {
    for (int w = 0; w < words; ++w) {
      const int64_t there = memory[(size_t)i * (size_t)words + (size_t)w];
      if (operation == k_put)
        expect(there == (theirs - 1) * window + i + w + before, "memory is not what was put last");
      if (operation == k_accumulate) expect(there == theirs, "a sum is not the number of additions");
    }
  }
  if (progress) MPI_Send(NULL, 0, MPI_BYTE, before, 2, MPI_COMM_WORLD);  // nothing more will come from us
  free(local);
}

static void body(int thread) {
  if (thread == 0) {
    work();
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, (g_program.rank + 1) % g_program.ranks, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "2: one works, one drives MPI; 1: without the latter"},
                                   {"operation", 0, "0 put, 1 get, 2 accumulate"},
                                   {"bytes", 8, "per operation, a multiple of 8"},
                                   {"window", 64, "operations between two flushes"}};
  begin_program(argc, argv, "onesided", options, 4);
  operation = option_count("operation");
  window = option_count("window");
  words = option_count("bytes") / 8;
  progress = option_count("threads") > 1;
  if (operation > 2 || window < 1 || words < 1) stop_program("operation from 0 to 2, window from 1, bytes from 8");
  MPI_Win_allocate((MPI_Aint)window * words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < window * words; ++i) {
    memory[i] = operation == k_get ? (int64_t)(i % words) + i / words + g_program.rank : 0;
  }
  MPI_Win_sync(win);
  run_threads(progress ? 2 : 1, body);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(win);
  add_metric("rate", "M operations/s", over_ranks((double)operations / measured_seconds() / 1e6, MPI_SUM));
  MPI_Win_free(&win);
  return end_program();
}
