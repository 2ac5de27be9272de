// SPDX-License-Identifier: Apache-2.0
// What a rank costs that only waits: memory of the process, proportional (a page that several copies of the program
// share counts once), and the time from the start of the job, if --began says when that was (seconds of the monotonic
// clock), until all ranks have met.
#include "ranks.h"

// A line of a file of /proc: its number, in KiB.
static double kilobytes(const char* file, const char* key) {
  char line[256];
  double found = 0;
  FILE* const f = fopen(file, "r");
  if (f == NULL) return 0;
  while (fgets(line, sizeof line, f) != NULL) {
    if (strncmp(line, key, strlen(key)) == 0) found = strtod(line + strlen(key), NULL);
  }
  fclose(f);
  return found;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"began", 0, "when the job was started"},
                                   {"each", 0, "1: each rank is a process, their memory is added"}};
  begin_program(argc, argv, "idle", options, 2);
  MPI_Barrier(MPI_COMM_WORLD);
  const double met = (double)now_ns() / 1e9, began = option_value("began");
  const int each = option_count("each");
  // With `each` nobody is idle for others; else all others wait in MPI_Recv when rank 0 looks.
  double memory[3] = {0, 0, 0}, all[3] = {0, 0, 0};
  int token = 0, seen = 0;
  if (g_program.rank == 0 || each) {
    for (int i = 0; i < 3 && !each; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &seen, MPI_STATUS_IGNORE);
    memory[0] = kilobytes("/proc/self/smaps_rollup", "Pss:");
    memory[1] = kilobytes("/proc/self/status", "VmPTE:");
    memory[2] = kilobytes("/proc/self/smaps_rollup", "Pss_Anon:");
  }
  if (!each && g_program.rank == 0) {
    for (int i = 1; i < g_program.ranks; ++i) MPI_Send(&i, 1, MPI_INT, i, 1, MPI_COMM_WORLD);
  } else if (!each) {
    MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(token == g_program.rank, "a rank was sent what was for another one");
  }
  MPI_Reduce(memory, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  expect(g_program.rank != 0 || all[0] > 0, "the system does not say how much memory there is");
  add_metric("process_kb", "KiB", all[0]);
  add_metric("page_table_kb", "KiB", all[1]);
  add_metric("anonymous_kb", "KiB", all[2]);
  add_metric("start_s", "s", began > 0 ? met - began : 0);
  return end_program();
}
