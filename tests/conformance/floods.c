/* SPDX-License-Identifier: Apache-2.0 */
/* Many messages that nobody receives for long: a library may keep only so many, and must deliver all of them in order. */
#include "check.h"

enum { MESSAGES = 40000, LONG = 300 };

static const int lengths_[] = {0, 1, 4, 100, 4095, 4096, 4097, 8191, 8192, 8193, 16383, 16384, 16385};
enum { LENGTHS = sizeof lengths_ / sizeof *lengths_ };

static char filler(int number, int i) { return (char)(number * 7 + i); }

/* The receiver first gets the last message, of another tag, where the sender does not wait for the others. */
static void many_short(int from, int to) {
  if (rank_ == from) {
    MPI_Request last, *all = malloc(MESSAGES * sizeof *all);
    int* sent = malloc(MESSAGES * sizeof *sent);
    for (int i = 0; i < MESSAGES; ++i) {
      sent[i] = i;
      MPI_Isend(&sent[i], i % 3 == 0 ? 0 : 1, MPI_INT, to, 1, MPI_COMM_WORLD, &all[i]);
    }
    MPI_Isend(NULL, 0, MPI_INT, to, 2, MPI_COMM_WORLD, &last);
    MPI_Wait(&last, MPI_STATUS_IGNORE);
    MPI_Waitall(MESSAGES, all, MPI_STATUSES_IGNORE);
    free(all);
    free(sent);
  }
  if (rank_ == to) {
    MPI_Recv(NULL, 0, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MESSAGES; ++i) {
      int got = i, count;
      MPI_Status status;
      MPI_Recv(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &status);
      MPI_Get_count(&status, MPI_INT, &count);
      CHECK_EQUAL(got, i);
      CHECK_EQUAL(count, i % 3 == 0 ? 0 : 1);
    }
  }
}

static void of_all_lengths(int from, int to) {
  char* at = malloc(16385);
  if (rank_ == from) {
    char** sent = malloc(LONG * sizeof *sent);
    MPI_Request* all = malloc(LONG * sizeof *all);
    for (int i = 0; i < LONG; ++i) {
      const int n = lengths_[i % LENGTHS];
      sent[i] = malloc((size_t)n + 1);
      for (int k = 0; k < n; ++k) sent[i][k] = filler(i, k);
      MPI_Isend(sent[i], n, MPI_CHAR, to, i % 2, MPI_COMM_WORLD, &all[i]);
    }
    MPI_Send(NULL, 0, MPI_CHAR, to, 2, MPI_COMM_WORLD);
    MPI_Waitall(LONG, all, MPI_STATUSES_IGNORE);
    for (int i = 0; i < LONG; ++i) free(sent[i]);
    free(sent);
    free(all);
  }
  if (rank_ == to) {
    MPI_Recv(NULL, 0, MPI_CHAR, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int part = 0; part < 2; ++part)
      for (int i = 1 - part; i < LONG; i += 2) {
        const int n = lengths_[i % LENGTHS];
        int count, wrong = 0;
        MPI_Status status;
        MPI_Recv(at, 16385, MPI_CHAR, MPI_ANY_SOURCE, 1 - part, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        CHECK_EQUAL(count, n);
        for (int k = 0; k < n; ++k) wrong += at[k] != filler(i, k);
        CHECK_EQUAL(wrong, 0);
      }
  }
  free(at);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (size_ > 1) {
    many_short(0, size_ - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    of_all_lengths(size_ - 1, 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return end();
}
