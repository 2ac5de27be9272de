// SPDX-License-Identifier: Apache-2.0
// The pattern of the SWAP genome assembler: in each process some threads ask for entries of a table that is spread over
// the processes, and one thread serves what others ask, whoever it may be (any source). Each answer is verified; the
// server ends when the askers of all processes have said that they are done.
#include "measure.h"

enum { k_ask = 1, k_done = 2, k_answer = 16, k_entries = 4096 };

static int askers, batch;
static atomic_llong answered;
static MPI_Comm questions;  // the server's: it takes whatever comes there

static uint64_t entry(int owner, uint64_t key) { return scramble((uint64_t)owner << 40 | key); }

struct question {
  uint64_t asker;
  uint64_t keys[64];
};

static void ask(int thread) {
  uint64_t state = scramble((uint64_t)(g_program.rank * k_max_threads + thread));
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  struct question q;
  uint64_t answers[64];
  long long count = 0;
  while (count == 0 || now_ns() < until) {
    state = scramble(state);
    const int owner = (g_program.rank + 1 + (int)(state % (uint64_t)(g_program.ranks - 1))) % g_program.ranks;
    q.asker = (uint64_t)thread;
    for (int i = 0; i < batch; ++i) {
      state = scramble(state);
      q.keys[i] = state % k_entries;
    }
    MPI_Request request;
    MPI_Irecv(answers, batch, MPI_UINT64_T, owner, k_answer + thread, MPI_COMM_WORLD, &request);
    MPI_Send(&q, batch + 1, MPI_UINT64_T, owner, k_ask, questions);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < batch; ++i)
      expect(answers[i] == entry(owner, q.keys[i]), "an answer is not the entry asked for");
    ++count;
  }
  atomic_fetch_add(&answered, count);
  for (int r = 0; r < g_program.ranks; ++r) MPI_Send(NULL, 0, MPI_UINT64_T, r, k_done, questions);
}

static void serve(void) {
  struct question q;
  uint64_t answers[64];
  for (int left = askers * g_program.ranks; left > 0;) {
    MPI_Status status;
    MPI_Recv(&q, 65, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, questions, &status);
    if (status.MPI_TAG == k_done) {
      --left;
      continue;
    }
    expect(status.MPI_TAG == k_ask, "a message of another kind reached the server");
    for (int i = 0; i < batch; ++i) answers[i] = entry(g_program.rank, q.keys[i]);
    MPI_Send(answers, batch, MPI_UINT64_T, status.MPI_SOURCE, k_answer + (int)q.asker, MPI_COMM_WORLD);
  }
}

static void body(int thread) {
  measured_begin();
  if (thread == askers) {
    serve();
  } else {
    ask(thread);
  }
  measured_end();
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process: one serves, the others ask"},
                                   {"batch", 8, "entries per question, up to 64"}};
  begin_program(argc, argv, "assembler", options, 2);
  askers = option_count("threads") - 1;
  batch = option_count("batch");
  if (askers < 1 || batch < 1 || batch > 64) stop_program("threads from 2, batch from 1 to 64");
  if (g_program.ranks < 2) stop_program("needs two processes or more");
  MPI_Comm_dup(MPI_COMM_WORLD, &questions);
  run_threads(askers + 1, body);
  MPI_Comm_free(&questions);
  const double all = over_ranks((double)answered, MPI_SUM), seconds = over_ranks(measured_seconds(), MPI_MAX);
  add_metric("rate", "M questions/s", all / seconds / 1e6);
  add_metric("entries", "M entries/s", all * batch / seconds / 1e6);
  return end_program();
}
