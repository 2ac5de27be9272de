// SPDX-License-Identifier: Apache-2.0
// Waiting on an unlucky partner. --blocks blocks of work are spread over the ranks; in each step every block is
// computed, and one of them, now here, now there, takes --slow times as long. Then each rank exchanges a number
// per block with its partner, the rank half of all further, and needs the answer for the next step. A rank with many blocks
// waits as a whole for the slowest of its partner's; with a block per rank (--nfg) the core goes on with the others.
#include "ranks.h"

enum { k_max_blocks = 256 };
static const uint64_t k_factor = 6364136223846793005ULL, k_addend = 1442695040888963407ULL;

// The work: x -> factor x + addend, `turns` times.
static uint64_t work(uint64_t x, long long turns) {
  for (long long i = 0; i < turns; ++i) {
    x = k_factor * x + k_addend;
    __asm__ volatile("" : "+r"(x));  // each turn is done
  }
  return x;
}

// The same in a time that hardly grows with `turns`, for the check.
static uint64_t skip(uint64_t x, long long turns) {
  uint64_t factor = k_factor, addend = k_addend;
  for (; turns > 0; turns >>= 1) {
    if (turns & 1) x = factor * x + addend;
    addend *= factor + 1;
    factor *= factor;
  }
  return x;
}

static int blocks, slow;
static long long turns;

static long long turns_of(int block, int step) {
  return (int)(scramble((uint64_t)step) % (uint64_t)blocks) == block ? turns * slow : turns;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"blocks", 8, "blocks of work in all"},
                                   {"slow", 8, "how many times as long the slow one takes"},
                                   {"turns", 50000, "work of a block in a step"},
                                   {"steps", 300, "steps"}};
  begin_program(argc, argv, "unlucky", options, 4);
  blocks = option_count("blocks");
  slow = option_count("slow");
  turns = option_count("turns");
  const int steps = option_count("steps"), mine = blocks / g_program.ranks;
  if (g_program.ranks % 2 != 0 || blocks > k_max_blocks || mine < 1 || mine * g_program.ranks != blocks) {
    stop_program("needs an even number of ranks that divides --blocks, at most 256");
  }
  const int first = g_program.rank * mine, partner = (g_program.rank + g_program.ranks / 2) % g_program.ranks;
  uint64_t values[k_max_blocks], others[k_max_blocks], all[k_max_blocks];
  for (int i = 0; i < mine; ++i) values[i] = scramble((uint64_t)(first + i));
  MPI_Barrier(MPI_COMM_WORLD);
  const long long start = now_ns();
  double waited = 0;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < mine; ++i) values[i] = work(values[i], turns_of(first + i, step));
    const long long before = now_ns();
    MPI_Sendrecv(values, mine, MPI_UINT64_T, partner, 1, others, mine, MPI_UINT64_T, partner, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    waited += (double)(now_ns() - before) / 1e9;
    for (int i = 0; i < mine; ++i) values[i] += others[i];
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double seconds = (double)(now_ns() - start) / 1e9;
  waited = over_ranks(waited, MPI_SUM) / g_program.ranks;
  MPI_Gather(values, mine, MPI_UINT64_T, all, mine, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  if (g_program.rank == 0) {
    uint64_t right[k_max_blocks], next[k_max_blocks];
    for (int i = 0; i < blocks; ++i) right[i] = scramble((uint64_t)i);
    for (int step = 0; step < steps; ++step) {
      for (int i = 0; i < blocks; ++i) right[i] = skip(right[i], turns_of(i, step));
      for (int i = 0; i < blocks; ++i) next[i] = right[i] + right[(i + blocks / 2) % blocks];
      memcpy(right, next, sizeof right);
    }
    expect(memcmp(all, right, sizeof(uint64_t) * (size_t)blocks) == 0, "a block has a wrong result");
  }
  add_metric("time_s", "s", seconds);
  add_metric("waited_s", "s", waited);
  return end_program();
}
