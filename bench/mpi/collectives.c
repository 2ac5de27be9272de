// SPDX-License-Identifier: Apache-2.0
// Blocking collectives of several threads: thread t of all processes calls one after the other MPI_Allreduce, MPI_Bcast
// and MPI_Barrier on its own communicator. Every result is verified.
#include "measure.h"

static int bytes;
static MPI_Comm lanes[k_max_threads];
static atomic_llong calls;

static uint64_t contents(int thread, long long round) { return scramble((uint64_t)round << 8 | (uint64_t)thread); }

static void body(int thread) {
  const MPI_Comm comm = lanes[thread];
  const int count = bytes / 8;
  const uint64_t ranks = (uint64_t)g_program.ranks, all = ranks * (ranks + 1) / 2;
  uint64_t* out = malloc((size_t)bytes);
  uint64_t* in = malloc((size_t)bytes);
  if (out == NULL || in == NULL) stop_program("out of memory");
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  measured_begin();
  long long round = 0;
  for (int more = 1; more; ++round) {
    // The root of the broadcast decides whether there is another round.
    const uint64_t value = contents(thread, round);
    for (int i = 0; i < count; ++i) out[i] = value * (uint64_t)(g_program.rank + 1) + (uint64_t)i;
    MPI_Allreduce(out, in, count, MPI_UINT64_T, MPI_SUM, comm);
    expect(in[0] == value * all && in[count - 1] == value * all + ranks * (uint64_t)(count - 1), "a sum is wrong");
    const int root = (int)(round % g_program.ranks);
    if (g_program.rank == root) {
      more = now_ns() < until;
      for (int i = 0; i < count; ++i) out[i] = value + (uint64_t)i;
      out[count - 1] = (value & ~(uint64_t)1) | (uint64_t)more;
    }
    MPI_Bcast(out, count, MPI_UINT64_T, root, comm);
    more = (int)(out[count - 1] & 1);
    expect(out[count - 1] >> 1 == value >> 1 && (count == 1 || out[0] == value), "a broadcast brought something else");
    MPI_Barrier(comm);
  }
  measured_end();
  atomic_fetch_add(&calls, 3 * round);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process, each with a communicator"},
                                   {"bytes", 8, "per buffer, at least 8"}};
  begin_program(argc, argv, "collectives", options, 2);
  bytes = option_count("bytes") / 8 * 8;
  const int threads = option_count("threads");
  if (bytes < 8 || threads > k_max_threads) stop_program("bytes from 8, threads up to 64");
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t]);
  run_threads(threads, body);
  const double rate = over_ranks((double)calls / measured_seconds() / 1e6 / g_program.ranks, MPI_SUM);
  add_metric("rate", "M calls/s", rate);  // of one process
  for (int t = 0; t < threads; ++t) MPI_Comm_free(&lanes[t]);
  return end_program();
}
