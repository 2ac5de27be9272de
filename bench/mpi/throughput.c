// SPDX-License-Identifier: Apache-2.0
// Message rate of several threads: thread t of an even rank sends windows of messages to thread t of the next rank,
// which answers each window with an empty message. Every message carries its number, in its first and its last bytes.
#include "measure.h"

static int bytes, window, separate;
static MPI_Comm comms[k_max_threads];
static atomic_llong received;

static uint64_t contents(int thread, uint64_t number, int last) {
  return number << 8 | (uint64_t)(thread & 127) << 1 | (uint64_t)last;
}

static void fill(unsigned char* message, uint64_t value) {
  memcpy(message, &value, 8);
  memcpy(message + bytes - 8, &value, 8);
}

static void send_windows(int thread, unsigned char* buffer, MPI_Request* requests) {
  const MPI_Comm comm = comms[separate ? thread : 0];
  const int to = g_program.rank + 1;
  const long long until = now_ns() + (long long)(option_value("seconds") * 1e9);
  uint64_t number = 0;
  measured_begin();
  for (int last = 0; !last;) {
    last = now_ns() >= until;
    for (int i = 0; i < window; ++i) {
      unsigned char* message = buffer + (size_t)i * (size_t)bytes;
      fill(message, contents(thread, number++, last));
      MPI_Isend(message, bytes, MPI_BYTE, to, thread, comm, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, to, thread, comm, MPI_STATUS_IGNORE);
  }
  measured_end();
}

static void receive_windows(int thread, unsigned char* buffer, MPI_Request* requests) {
  const MPI_Comm comm = comms[separate ? thread : 0];
  const int from = g_program.rank - 1;
  MPI_Status* statuses = malloc((size_t)window * sizeof *statuses);
  uint64_t number = 0;
  measured_begin();
  for (int last = 0; !last;) {
    for (int i = 0; i < window; ++i) {
      MPI_Irecv(buffer + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, from, thread, comm, &requests[i]);
    }
    MPI_Waitall(window, requests, statuses);
    for (int i = 0; i < window; ++i) {
      uint64_t head, tail;
      memcpy(&head, buffer + (size_t)i * (size_t)bytes, 8);
      memcpy(&tail, buffer + (size_t)(i + 1) * (size_t)bytes - 8, 8);
      int count = 0;
      MPI_Get_count(&statuses[i], MPI_BYTE, &count);
      last = (int)(head & 1);
      expect(head == contents(thread, number, last) && head == tail && count == bytes &&
                 statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == thread,
             "a message is not the one that was next");
      ++number;
    }
    MPI_Send(NULL, 0, MPI_BYTE, from, thread, comm);
  }
  measured_end();
  atomic_fetch_add(&received, (long long)number);
  free(statuses);
}

static void body(int thread) {
  unsigned char* buffer = calloc((size_t)window, (size_t)bytes);
  MPI_Request* requests = malloc((size_t)window * sizeof *requests);
  if (buffer == NULL || requests == NULL) stop_program("out of memory");
  if (g_program.rank % 2 == 0) {
    send_windows(thread, buffer, requests);
  } else {
    receive_windows(thread, buffer, requests);
  }
  free(buffer);
  free(requests);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 2, "threads per process"},
                                   {"bytes", 8, "per message, at least 8"},
                                   {"window", 64, "messages under way per thread"},
                                   {"comms", 0, "1: a communicator for each thread"}};
  begin_program(argc, argv, "throughput", options, 4);
  bytes = option_count("bytes");
  window = option_count("window");
  separate = option_count("comms");
  const int threads = option_count("threads");
  if (bytes < 8 || window < 1 || threads > k_max_threads) stop_program("bytes from 8, window from 1, threads up to 64");
  if (g_program.ranks % 2 != 0) stop_program("needs an even number of processes");
  for (int t = 0; t < (separate ? threads : 1); ++t) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
  run_threads(threads, body);
  const int receives = g_program.rank % 2;
  const double rate = over_ranks(receives ? (double)received / measured_seconds() / 1e6 : 0, MPI_SUM);
  add_metric("rate", "M messages/s", rate);
  add_metric("bandwidth", "MB/s", rate * bytes);
  for (int t = 0; t < (separate ? threads : 1); ++t) MPI_Comm_free(&comms[t]);
  return end_program();
}
