// SPDX-License-Identifier: Apache-2.0
// Everybody to everybody: in each round thread t of every process sends a window of messages to thread t of every other
// process and receives as many. Every message carries sender, thread and number, and whether its sender wants to stop:
// as all see all messages of a round, all stop after the same one.
#include "measure.h"

static int bytes, window;
static atomic_llong received;

static uint64_t contents(int rank, int thread, uint64_t number) {
  return number << 24 | (uint64_t)(rank & 0xffff) << 8 | (uint64_t)(thread & 127) << 1;
}

static void body(int thread) {
  const int me = g_program.rank, peers = g_program.ranks - 1;
  const size_t count = (size_t)peers * (size_t)window;
  unsigned char* out = calloc(count, (size_t)bytes);
  unsigned char* in = calloc(count, (size_t)bytes);
  MPI_Request* requests = malloc(2 * count * sizeof *requests);
  if (out == NULL || in == NULL || requests == NULL) stop_program("out of memory");
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  uint64_t round = 0;
  measured_begin();
  for (int last = 0; !last; ++round) {
    last = now_ns() >= until;
    for (size_t i = 0; i < count; ++i) {
      const int from = (me + 1 + (int)(i % (size_t)peers)) % g_program.ranks;
      MPI_Irecv(in + i * (size_t)bytes, bytes, MPI_BYTE, from, thread, MPI_COMM_WORLD, &requests[i]);
    }
    for (size_t i = 0; i < count; ++i) {
      const int to = (me + 1 + (int)(i % (size_t)peers)) % g_program.ranks;
      const uint64_t said = contents(me, thread, round * (uint64_t)window + i / (size_t)peers) | (uint64_t)last;
      memcpy(out + i * (size_t)bytes, &said, 8);
      MPI_Isend(out + i * (size_t)bytes, bytes, MPI_BYTE, to, thread, MPI_COMM_WORLD, &requests[count + i]);
    }
    MPI_Waitall((int)(2 * count), requests, MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < count; ++i) {
      const int from = (me + 1 + (int)(i % (size_t)peers)) % g_program.ranks;
      uint64_t said;
      memcpy(&said, in + i * (size_t)bytes, 8);
      last |= (int)(said & 1);
      expect((said & ~1ULL) == contents(from, thread, round * (uint64_t)window + i / (size_t)peers),
             "a message is not the one that was next");
    }
  }
  measured_end();
  atomic_fetch_add(&received, (long long)(round * count));
  free(out);
  free(in);
  free(requests);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process"},
                                   {"bytes", 8, "per message, at least 8"},
                                   {"window", 16, "messages per thread and peer in a round"}};
  begin_program(argc, argv, "n2n", options, 3);
  bytes = option_count("bytes");
  window = option_count("window");
  if (bytes < 8 || window < 1) stop_program("bytes from 8, window from 1");
  if (g_program.ranks < 2) stop_program("needs two processes or more");
  run_threads(option_count("threads"), body);
  add_metric("rate", "M messages/s", over_ranks((double)received / measured_seconds() / 1e6, MPI_SUM));
  return end_program();
}
