/* SPDX-License-Identifier: Apache-2.0
 * Ranks on a simulated machine: messages and sleep take virtual time, and variables are a rank's own. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static int mine = -1;

#define REQUIRE(what)                                        \
  do {                                                       \
    if (!(what)) {                                           \
      fprintf(stderr, "rank %d: failed: %s\n", mine, #what); \
      MPI_Abort(MPI_COMM_WORLD, 1);                          \
    }                                                        \
  } while (0)

enum { k_rounds = 100, k_words = 20000 };

int main(int argc, char** argv) {
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int next = (mine + 1) % ranks, before = (mine + ranks - 1) % ranks;

  /* There and back between the first and the last, which are on different nodes: 1.5 us or more each way. */
  double begin = MPI_Wtime();
  for (int i = 0; i < k_rounds; ++i) {
    int word = i;
    if (mine == 0) {
      MPI_Send(&word, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&word, 1, MPI_INT, ranks - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      REQUIRE(word == i + 1);
    } else if (mine == ranks - 1) {
      MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      ++word;
      MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
  }
  double took = MPI_Wtime() - begin;
  if (mine == 0) REQUIRE(took > k_rounds * 3e-6 && took < k_rounds * 30e-6);

  /* Long messages, which are sent when they are wanted. */
  static int sent[k_words], got[k_words];
  for (int i = 0; i < k_words; ++i) sent[i] = mine * k_words + i;
  MPI_Sendrecv(sent, k_words, MPI_INT, next, 1, got, k_words, MPI_INT, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < k_words; ++i) REQUIRE(got[i] == before * k_words + i);

  /* Ranks of a worker sleep at the same time. */
  MPI_Barrier(MPI_COMM_WORLD);
  begin = MPI_Wtime();
  const struct timespec quarter = {0, 250 * 1000 * 1000};
  nanosleep(&quarter, NULL);
  took = MPI_Wtime() - begin;
  REQUIRE(took > 0.2 && took < 0.3);

  long sum = mine, all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(all == (long)ranks * (ranks - 1) / 2);
  if (mine == 0) printf("%d ranks\n", ranks);
  MPI_Finalize();
  return 0;
}
