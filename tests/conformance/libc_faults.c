/* SPDX-License-Identifier: Apache-2.0 */
/* Ends, or does what is to be warned about, in rank 1, as the first argument says. tests/cluster/mpi_ranks_test.cpp reads
   the messages. */
#include <assert.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static char* volatile nothing;
static volatile int zero;

static int descend(int n) {
  volatile char frame[4096];
  frame[n % 4096] = 1;
  return n == 0 ? 0 : descend(n + 1) + frame[5];
}

/* More than a stack at once, so that its guard is jumped over. */
static __attribute__((noinline)) int use_large_frame(int at) {
  volatile char large[40 << 20];
  large[at] = 1;
  return large[at];
}

void fail_here(const char* how) {
  if (strcmp(how, "access") == 0) *nothing = 1;
  if (strcmp(how, "library") == 0) printf("%zu\n", strlen(nothing));
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "assert") == 0) assert(zero == 1);
  if (strcmp(how, "divide") == 0) printf("%d\n", 5 / zero);
  if (strcmp(how, "deep") == 0) printf("%d\n", descend(1));
  if (strcmp(how, "large") == 0) printf("%d\n", use_large_frame(zero));
  if (strcmp(how, "exit") == 0) exit(5);
  if (strcmp(how, "quick") == 0) _exit(6);
  if (strcmp(how, "folder") == 0 && chdir("/") != 0) abort();
  if (strcmp(how, "own folder") == 0 && chdir(".") != 0) abort();
  while (strcmp(how, "endless") == 0) zero = 0;
}

/* Takes all memory that the process can have: no thread finds 16 bytes. */
static void use_all_memory(void) {
  long pages = 0;
  FILE* const sizes = fopen("/proc/self/statm", "r");
  if (sizes == NULL || fscanf(sizes, "%ld", &pages) != 1) abort();
  fclose(sizes);
  const struct rlimit now = {(rlim_t)pages * 4096, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &now);
  for (size_t bytes = 1 << 20; bytes >= 8; bytes /= 2)
    while (malloc(bytes) != NULL) continue;
}

/* Rank 1 waits for the last of the messages that rank 2, of another process, sends; those before find no memory. */
static void send_without_memory(void) {
  enum { MESSAGES = 200, BYTES = 4000, LAST = 7 };
  static char bytes[BYTES];
  MPI_Request last = MPI_REQUEST_NULL;
  if (rank_ == 1) {
    MPI_Irecv(bytes, BYTES, MPI_CHAR, 2, LAST, MPI_COMM_WORLD, &last);
    MPI_Barrier(MPI_COMM_WORLD);
    use_all_memory();
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ != 2) return;
  sleep(1); /* until rank 1 has taken it */
  for (int i = 0; i < MESSAGES; ++i) MPI_Send(bytes, BYTES, MPI_CHAR, 1, i == MESSAGES - 1 ? LAST : 1, MPI_COMM_WORLD);
}

/* A call that needs memory where there is none. */
static void call_without_memory(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ != 1) return;
  use_all_memory();
  MPI_Comm made;
  MPI_Info hints;
  for (;;) {
    MPI_Info_create(&hints);
    MPI_Comm_dup(MPI_COMM_SELF, &made);
  }
}

/* Each rank computes before it starts, so that all together take long. */
static void start_slowly(void) {
  struct timespec begun, now;
  clock_gettime(CLOCK_MONOTONIC, &begun);
  do clock_gettime(CLOCK_MONOTONIC, &now);
  while (now.tv_sec - begun.tv_sec < 4);
}

/* Rank 1 has too little room for what another rank, of its process or of another one, sends. */
static void receive_too_much(const char* how) {
  static char bytes[100000];
  const int from = strncmp(how, "truncated near", 14) == 0 ? 0 : size_ - 1;
  const int room = strstr(how, "long") != NULL ? 50000 : 8;
  const int sent = strstr(how, "long") != NULL ? 100000 : 16;
  if (rank_ == from) MPI_Send(bytes, sent, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
  if (rank_ != 1) return;
  MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (strstr(how, "all") == NULL) {
    MPI_Recv(bytes, room, MPI_CHAR, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Irecv(bytes, room, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  if (strcmp(argv[1], "slow start") == 0) start_slowly();
  begin(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 1) fail_here(argv[1]);
  if (strcmp(argv[1], "memory of messages") == 0) send_without_memory();
  if (strcmp(argv[1], "memory of calls") == 0) call_without_memory();
  if (strncmp(argv[1], "truncated", 9) == 0) receive_too_much(argv[1]);
  if (strncmp(argv[1], "late ", 5) == 0) {
    end();
    exit(rank_ == 1 ? atoi(argv[1] + 5) : 0);
  }
  return end();
}
