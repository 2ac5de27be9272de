// SPDX-License-Identifier: Apache-2.0
// Half of a round trip between the first rank and the last one; the ranks between them wait for the end. Each message
// carries its number, and between batches whole contents are verified. `over_memcpy_ns`: what a message costs more than
// a copy of as many bytes.
#include "ranks.h"

static unsigned char *out, *in;
static int bytes;

static void send_to(int peer) { MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD); }
static void receive_from(int peer) { MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

// The first word of a message is its number.
static void set_number(uint64_t number) { memcpy(out, &number, 8); }
static uint64_t received_number(void) {
  uint64_t number;
  memcpy(&number, in, 8);
  return number;
}

static void verified_trip(int peer, int first, uint64_t seed) {
  if (first) {
    fill(out, bytes, seed);
    send_to(peer);
    receive_from(peer);
    expect(is_filled(in, bytes, seed + 7), "the answer is not what was sent");
  } else {
    receive_from(peer);
    expect(is_filled(in, bytes, seed), "a message is not what was sent");
    fill(out, bytes, seed + 7);
    send_to(peer);
  }
}

// The first rank says how many trips come next; none ends it.
static int agreed_batch(int peer, int first, long long until, long long took) {
  int batch = first ? next_batch(until, took) : 0;
  if (first) {
    MPI_Send(&batch, 1, MPI_INT, peer, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(&batch, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return batch;
}

static void play(int peer, int first) {
  const long long until = deadline_ns();
  uint64_t number = 0;
  long long took = 0;
  for (int batch; (batch = agreed_batch(peer, first, until, took)) > 0;) {
    verified_trip(peer, first, number);
    const long long start = now_ns();
    for (int i = 0; i < batch; ++i) {
      ++number;
      if (first) {
        set_number(number);
        send_to(peer);
        receive_from(peer);
        expect(received_number() == number, "an answer is not the one that was next");
      } else {
        receive_from(peer);
        expect(received_number() == number, "a message is not the one that was next");
        set_number(number);
        send_to(peer);
      }
    }
    took = now_ns() - start;
    if (first) add_sample((double)took / batch / 2e3);
  }
}

int main(int argc, char** argv) {
  const struct option options[] = {{"bytes", 8, "per message, at least 8"}};
  begin_program(argc, argv, "pingpong", options, 1);
  bytes = option_count("bytes");
  if (bytes < 8) stop_program("bytes from 8");
  if (g_program.ranks < 2) stop_program("needs two ranks");
  out = allocate((size_t)bytes);
  in = allocate((size_t)bytes);
  const int last = g_program.ranks - 1;
  if (g_program.rank == 0) play(last, 1);
  if (g_program.rank == last) play(0, 0);
  if (g_program.rank == 0) {
    const double half = median_sample();
    const size_t both = 2 * (size_t)bytes;  // a trip copies from two buffers to two others
    unsigned char* const from = allocate(both);
    unsigned char* const to = allocate(both);
    memset(from, 1, both);
    const double copy = memcpy_us(to, from, (size_t)bytes, 2);
    free(from);
    free(to);
    add_metric("half_rtt_us", "us", half);
    add_metric("memcpy_us", "us", copy);
    add_metric("over_memcpy_ns", "ns", (half - copy) * 1e3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(out);
  free(in);
  return end_program();
}
