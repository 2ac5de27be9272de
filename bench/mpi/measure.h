// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share: options, threads, one clock, checks, and the JSON they print. Plain C11 and
// MPI-3, so that any mpicc compiles them: mpicc -O2 -pthread throughput.c.
// Who may call: `begin_program` and `end_program` by the main thread; the rest by any thread.
// A rate is what was done between the first thread's start and the last one's end, both read in one process; where
// several processes take part, rates are added.
#pragma once

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { k_max_threads = 64, k_max_metrics = 24, k_max_options = 16 };

struct option {
  const char* name;  // without the dashes
  double value;      // default, then what was given
  const char* help;
};

struct metric {
  const char* name;
  const char* unit;
  double value;
};

struct program {
  const char* name;
  int rank, ranks;
  struct option options[k_max_options];
  int option_count;
  int json;
  atomic_int wrong;  // what validation found in this process
  struct metric metrics[k_max_metrics];
  int metric_count;
  atomic_llong first_ns, last_ns;
};

static struct program g_program;

static inline long long now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void stop_program(const char* sentence) {
  fprintf(stderr, "%s: %s\n", g_program.name, sentence);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

static inline double option_value(const char* name) {
  for (int i = 0; i < g_program.option_count; ++i) {
    if (strcmp(g_program.options[i].name, name) == 0) return g_program.options[i].value;
  }
  stop_program("asks for an option that it did not declare");
  return 0;
}

static inline int option_count(const char* name) { return (int)option_value(name); }

// Validation: the first few failures are told, all are counted.
static inline void expect(int holds, const char* sentence) {
  if (!holds && atomic_fetch_add(&g_program.wrong, 1) < 3) {
    fprintf(stderr, "%s: rank %d: WRONG: %s\n", g_program.name, g_program.rank, sentence);
  }
}

static inline void add_metric(const char* name, const char* unit, double value) {
  if (g_program.metric_count == k_max_metrics) stop_program("has too many metrics");
  g_program.metrics[g_program.metric_count++] = (struct metric){name, unit, value};
}

// A double per process, summed or the largest, known to rank 0.
static inline double over_ranks(double value, MPI_Op op) {
  double result = 0;
  MPI_Reduce(&value, &result, 1, MPI_DOUBLE, op, 0, MPI_COMM_WORLD);
  return result;
}

static inline void wrong_usage(const char* word) {
  if (g_program.rank == 0) {
    fprintf(stderr, "%s: does not understand '%s'; options:\n  --json\n", g_program.name, word);
    for (int i = 0; i < g_program.option_count; ++i) {
      fprintf(stderr, "  --%s N  %s (%g)\n", g_program.options[i].name, g_program.options[i].help,
              g_program.options[i].value);
    }
  }
  MPI_Finalize();
  exit(2);
}

// Initialises MPI. Support for threads is asked for by programs with an option `threads`, but for --single 1.
static inline void begin_program(int argc, char** argv, const char* name, const struct option* options, int count) {
  g_program.name = name;
  int single = 1;
  for (int i = 0; i < count; ++i) {
    g_program.options[g_program.option_count++] = options[i];
    if (strcmp(options[i].name, "threads") == 0) single = 0;
  }
  g_program.options[g_program.option_count++] = (struct option){"seconds", 1, "how long to measure, at least"};
  const int threaded = !single;
  if (threaded) {
    g_program.options[g_program.option_count++] =
        (struct option){"single", 0, "1: ask for MPI_THREAD_SINGLE, for one thread"};
    for (int i = 1; i + 1 < argc; ++i) {
      if (strcmp(argv[i], "--single") == 0) single = atoi(argv[i + 1]);
    }
  }
  const int wanted = single ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &g_program.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g_program.ranks);
  if (provided < wanted) stop_program("this MPI library does not let several threads call it");
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--json") == 0) {
      g_program.json = 1;
      continue;
    }
    int known = 0;
    for (int k = 0; k < g_program.option_count && i + 1 < argc; ++k) {
      if (strncmp(argv[i], "--", 2) != 0 || strcmp(argv[i] + 2, g_program.options[k].name) != 0) continue;
      char* end;
      g_program.options[k].value = strtod(argv[i + 1], &end);
      if (end == argv[i + 1] || *end != 0 || g_program.options[k].value < 0) wrong_usage(argv[i + 1]);
      known = 1;
    }
    if (!known) wrong_usage(argv[i]);
    ++i;
  }
  if (threaded && single && option_count("threads") > 1) stop_program("one thread only with --single 1");
}

// Prints what rank 0 collected and ends the program; its exit status says whether the results were right.
static inline int end_program(void) {
  int mine = atomic_load(&g_program.wrong), wrong = 0;
  MPI_Allreduce(&mine, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (g_program.rank == 0 && g_program.json) {
    printf("{\"program\": \"%s\", \"parameters\": {\"ranks\": %d", g_program.name, g_program.ranks);
    for (int i = 0; i < g_program.option_count; ++i) {
      printf(", \"%s\": %g", g_program.options[i].name, g_program.options[i].value);
    }
    printf("}, \"metrics\": {");
    for (int i = 0; i < g_program.metric_count; ++i) {
      const struct metric* m = &g_program.metrics[i];
      printf("%s\"%s\": {\"unit\": \"%s\", \"values\": [%.9g], \"median\": %.9g, \"min\": %.9g, \"max\": %.9g}",
             i == 0 ? "" : ", ", m->name, m->unit, m->value, m->value, m->value, m->value);
    }
    printf("}, \"checks\": {\"validated\": %s}}\n", wrong == 0 ? "true" : "false");
  } else if (g_program.rank == 0) {
    printf("%s on %d processes\n", g_program.name, g_program.ranks);
    for (int i = 0; i < g_program.metric_count; ++i) {
      printf("  %-24s %14.6g %s\n", g_program.metrics[i].name, g_program.metrics[i].value, g_program.metrics[i].unit);
    }
    printf("  %s\n", wrong == 0 ? "all results verified" : "WRONG RESULTS");
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}

// ---- threads

struct thread_start {
  void (*body)(int thread);
  int thread;
};

static inline void* run_thread(void* argument) {
  const struct thread_start* start = argument;
  start->body(start->thread);
  return NULL;
}

// A thread says when it begins and ends its measured part.
static inline void measured_begin(void) {
  long long now = now_ns(), seen = atomic_load(&g_program.first_ns);
  while ((seen == 0 || now < seen) && !atomic_compare_exchange_weak(&g_program.first_ns, &seen, now)) {
  }
}
static inline void measured_end(void) {
  long long now = now_ns(), seen = atomic_load(&g_program.last_ns);
  while (now > seen && !atomic_compare_exchange_weak(&g_program.last_ns, &seen, now)) {
  }
}
static inline double measured_seconds(void) {
  return (double)(atomic_load(&g_program.last_ns) - atomic_load(&g_program.first_ns)) / 1e9;
}

// Runs body(0) .. body(threads - 1), body(0) on the calling thread, after a barrier of all processes.
static inline void run_threads(int threads, void (*body)(int thread)) {
  pthread_t handles[k_max_threads];
  struct thread_start starts[k_max_threads];
  if (threads < 1 || threads > k_max_threads) stop_program("threads: from 1 to 64");
  atomic_store(&g_program.first_ns, 0);
  atomic_store(&g_program.last_ns, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < threads; ++t) {
    starts[t] = (struct thread_start){body, t};
    if (t > 0 && pthread_create(&handles[t], NULL, run_thread, &starts[t]) != 0) stop_program("cannot start a thread");
  }
  run_thread(&starts[0]);
  for (int t = 1; t < threads; ++t) pthread_join(handles[t], NULL);
}

// A barrier of the threads of one process; who waits gives way to the others.
struct thread_barrier {
  int threads;
  atomic_int arrived, phase;
};
static inline void thread_barrier_wait(struct thread_barrier* b) {
  const int phase = atomic_load(&b->phase);
  if (atomic_fetch_add(&b->arrived, 1) + 1 == b->threads) {
    atomic_store(&b->arrived, 0);
    atomic_store(&b->phase, phase + 1);
    return;
  }
  while (atomic_load(&b->phase) == phase) sched_yield();
}

// ---- random numbers (splitmix64)

static inline uint64_t scramble(uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}
