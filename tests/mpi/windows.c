// SPDX-License-Identifier: Apache-2.0
// Many windows of one communicator at the same time, used by several threads: locks, fences, posts and starts of one
// window must not reach another; slots of windows that were freed are used again. Any number of processes.
#include "bench/mpi/measure.h"

enum { k_threads = 3, k_rounds = 3, k_page = 4096 };
static MPI_Win* windows;
static long* memory;  // a page for each window
static int count;

static long* of_window(int i) { return memory + (size_t)i * (k_page / sizeof(long)); }

static void make(MPI_Comm comm, int from, int step) {
  for (int i = from; i < count; i += step) {
    of_window(i)[0] = of_window(i)[1] = of_window(i)[2] = 0;
    MPI_Win_create(of_window(i), k_page, sizeof(long), MPI_INFO_NULL, comm, &windows[i]);
  }
}

static void remove_all(int from, int step) {
  for (int i = from; i < count; i += step) MPI_Win_free(&windows[i]);
}

// Everybody adds to the count of the same process, so that a lock of another window would lose a count.
static void add_with_lock(int i) {
  const int target = i % g_program.ranks;
  long value = 0;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, windows[i]);
  MPI_Get(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, windows[i]);
  MPI_Win_flush(target, windows[i]);
  ++value;
  MPI_Put(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, windows[i]);
  MPI_Win_unlock(target, windows[i]);
}

static void put_with_fence(int i) {
  const long value = i * 1000L + g_program.rank;
  const int to = (g_program.rank + 1) % g_program.ranks,
            from = (g_program.rank + g_program.ranks - 1) % g_program.ranks;
  MPI_Win_fence(0, windows[i]);
  MPI_Put(&value, 1, MPI_LONG, to, 1, 1, MPI_LONG, windows[i]);
  MPI_Win_fence(0, windows[i]);
  expect(of_window(i)[1] == i * 1000L + from, "a fence did not bring what was put");
}

static void put_after_post(int i) {
  MPI_Group all, other;
  const int with = g_program.rank == 0 ? 1 : 0;
  if (g_program.rank > 1) return;
  MPI_Win_get_group(windows[i], &all);
  MPI_Group_incl(all, 1, &with, &other);
  if (g_program.rank == 0) {
    const long value = i + 7L;
    MPI_Win_start(other, 0, windows[i]);
    MPI_Put(&value, 1, MPI_LONG, 1, 2, 1, MPI_LONG, windows[i]);
    MPI_Win_complete(windows[i]);
  } else {
    MPI_Win_post(other, 0, windows[i]);
    MPI_Win_wait(windows[i]);
    expect(of_window(i)[2] == i + 7L, "a post did not bring what was put");
  }
  MPI_Group_free(&other);
  MPI_Group_free(&all);
}

// The threads use neighbouring windows at the same time.
static void body(int thread) {
  measured_begin();
  for (int i = thread; i < count; i += k_threads) {
    for (int round = 0; round < k_rounds; ++round) add_with_lock(i);
    put_with_fence(i);
    put_after_post(i);
  }
  measured_end();
}

static void use_all(void) {
  run_threads(k_threads, body);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = g_program.rank; i < count; i += g_program.ranks) {
    long seen = 0;
    MPI_Win_lock(MPI_LOCK_SHARED, g_program.rank, 0, windows[i]);
    MPI_Get(&seen, 1, MPI_LONG, g_program.rank, 0, 1, MPI_LONG, windows[i]);
    MPI_Win_unlock(g_program.rank, windows[i]);
    expect(seen % (k_rounds * g_program.ranks) == 0 && seen > 0, "an exclusive lock did not exclude");
  }
}

int main(int argc, char** argv) {
  const struct option options[] = {
      {"windows", 30, "at the same time"}, {"churn", 1, "0: make and use them once"}, {"threads", k_threads, "fixed"}};
  begin_program(argc, argv, "windows", options, 3);
  count = option_count("windows");
  windows = malloc((size_t)count * sizeof *windows);
  memory = aligned_alloc(k_page, (size_t)count * k_page);
  if (windows == NULL || memory == NULL) stop_program("no memory");
  if (g_program.ranks < 2) stop_program("needs two processes");
  MPI_Comm comm, again;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &again);
  make(comm, 0, 1);
  use_all();
  if (option_count("churn")) {
    remove_all(0, 2);
    make(comm, 0, 2);
    use_all();
  }
  MPI_Comm_free(&comm);  // the windows live on
  if (option_count("churn")) {
    use_all();
    remove_all(1, 2);
    make(again, 1, 2);
    use_all();
    remove_all(0, 1);
    make(again, 0, 1);
    use_all();
  }
  remove_all(0, 1);
  MPI_Comm_free(&again);
  free(memory);
  free(windows);
  add_metric("seconds", "s", measured_seconds());
  return end_program();
}
