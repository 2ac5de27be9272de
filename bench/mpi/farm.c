// SPDX-License-Identifier: Apache-2.0
// A task farm: one thread of rank 0 gives a number to whoever asks (any source, any tag), with blocking sends and
// receives; all other threads of all processes work on it and bring the result with their next question.
#include "measure.h"

static int work;
static MPI_Comm questions;  // for the giver alone: it takes whatever comes there
static atomic_llong done_by_us;
static uint64_t sum_of_results, sum_expected;

static uint64_t result_of(uint64_t task) {
  for (int i = 0; i <= work; ++i) task = scramble(task);
  return task;
}

static void give(int workers) {
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  uint64_t next = 0;
  while (workers > 0) {
    uint64_t result[2];
    MPI_Status status;
    MPI_Recv(result, 2, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, questions, &status);
    if (result[0] != 0) {
      sum_of_results += result[1];
      sum_expected += result_of(result[0]);
    }
    uint64_t task = 0;  // the end
    if (now_ns() < until) {
      task = ++next;
    } else {
      --workers;
    }
    MPI_Send(&task, 1, MPI_UINT64_T, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD);
  }
}

static void take(int thread) {
  uint64_t result[2] = {0, 0};
  long long count = 0;
  for (;; ++count) {
    uint64_t task;
    MPI_Send(result, 2, MPI_UINT64_T, 0, thread, questions);
    MPI_Recv(&task, 1, MPI_UINT64_T, 0, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (task == 0) break;
    result[0] = task;
    result[1] = result_of(task);
  }
  atomic_fetch_add(&done_by_us, count);
}

static void body(int thread) {
  measured_begin();
  if (g_program.rank == 0 && thread == 0) {
    give(option_count("threads") * g_program.ranks - 1);
  } else {
    take(thread);
  }
  measured_end();
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process; one of rank 0 gives, the others work"},
                                   {"work", 0, "steps of computation per task"}};
  begin_program(argc, argv, "farm", options, 2);
  const int threads = option_count("threads");
  work = option_count("work");
  if (threads * g_program.ranks < 2 || threads > k_max_threads)
    stop_program("threads: from 1 to 64, at least two in all");
  MPI_Comm_dup(MPI_COMM_WORLD, &questions);
  run_threads(threads, body);
  MPI_Comm_free(&questions);
  const double all = over_ranks((double)done_by_us, MPI_SUM);
  expect(g_program.rank != 0 || (all > 0 && sum_of_results == sum_expected), "the results are not those of the tasks");
  add_metric("rate", "M tasks/s", all / over_ranks(measured_seconds(), MPI_MAX) / 1e6);
  return end_program();
}
