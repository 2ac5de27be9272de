// SPDX-License-Identifier: Apache-2.0
// Half of a round trip: thread t of an even rank and thread t of the next rank send one message to and fro, all pairs
// at the same time. The message carries its number.
#include "measure.h"

static int bytes;
static atomic_llong trips;

static void body(int thread) {
  const int first = g_program.rank % 2 == 0;
  const int peer = first ? g_program.rank + 1 : g_program.rank - 1;
  unsigned char* out = calloc(1, (size_t)bytes);
  unsigned char* in = calloc(1, (size_t)bytes);
  if (out == NULL || in == NULL) stop_program("out of memory");
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  uint64_t number = 0;
  measured_begin();
  for (int last = 0; !last; ++number) {
    uint64_t said = 0;
    if (first) {
      last = now_ns() >= until;
      said = number << 1 | (uint64_t)last;
      memcpy(out, &said, 8);
      memcpy(out + bytes - 8, &said, 8);
      MPI_Send(out, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(memcmp(in, out, (size_t)bytes) == 0, "the answer is not what was sent");
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      memcpy(&said, in, 8);
      expect(said >> 1 == number, "a message is not the one that was next");
      last = (int)(said & 1);
      MPI_Send(in, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD);
    }
  }
  measured_end();
  if (first) atomic_fetch_add(&trips, (long long)number);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process"}, {"bytes", 8, "per message, at least 8"}};
  begin_program(argc, argv, "latency", options, 2);
  bytes = option_count("bytes");
  if (bytes < 8) stop_program("bytes from 8");
  if (g_program.ranks % 2 != 0) stop_program("needs an even number of processes");
  run_threads(option_count("threads"), body);
  const double pairs = option_value("threads") * g_program.ranks / 2;
  const double all = over_ranks((double)trips, MPI_SUM), seconds = over_ranks(measured_seconds(), MPI_MAX);
  add_metric("latency", "us", all > 0 ? seconds * 1e6 * pairs / all / 2 : 0);
  add_metric("rate", "M messages/s", 2 * all / seconds / 1e6);
  return end_program();
}
