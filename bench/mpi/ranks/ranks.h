// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder share besides measure.h: batches that are timed one by one, and their median. One
// thread per rank; everything here is called between begin_program and end_program.
// A batch is long enough that two looks at the clock do not count: a message between ranks of a process takes less time
// than a look.
#pragma once

#include "../measure.h"

enum { k_max_samples = 2048, k_max_batch = 4096, k_batch_ns = 200000 };

static double g_samples[k_max_samples];
static long long g_sample_count;

// Time per operation in one batch. When all places are taken, later batches replace earlier ones.
static inline void add_sample(double value) { g_samples[g_sample_count++ % k_max_samples] = value; }

static inline int compare_samples(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

// The median of the batches since the last call.
static inline double median_sample(void) {
  const size_t count = (size_t)(g_sample_count < k_max_samples ? g_sample_count : k_max_samples);
  g_sample_count = 0;
  if (count == 0) return 0;
  qsort(g_samples, count, sizeof(double), compare_samples);
  return g_samples[count / 2];
}

static inline void* allocate(size_t bytes) {
  void* const memory = calloc(1, bytes);
  if (memory == NULL) stop_program("out of memory");
  return memory;
}

static inline long long deadline_ns(void) { return now_ns() + (long long)(option_value("seconds") * 1e9); }

// How many operations the next batch has, by the time of the last one (0: there was none); 0 when the time is over.
// Grows from 1, since a barrier of ranks takes a microsecond or, with more processes than cores, a second.
static inline int next_batch(long long until, long long last_ns) {
  static int size = 1;
  if (now_ns() >= until && last_ns > 0) return 0;
  if (last_ns > 0 && last_ns < k_batch_ns && size < k_max_batch) size *= 2;
  return size;
}

// The same decided by rank 0 for all ranks.
static inline int common_batch(long long until, long long last_ns) {
  int size = next_batch(until, last_ns);
  MPI_Bcast(&size, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return size;
}

// Contents that differ from message to message, and whether a buffer has them.
static inline void fill(unsigned char* buffer, int bytes, uint64_t seed) {
  for (int i = 0; i < bytes; ++i) buffer[i] = (unsigned char)((seed + (uint64_t)i) * 0x9e3779b97f4a7c15ULL >> 56);
}
static inline int is_filled(const unsigned char* buffer, int bytes, uint64_t seed) {
  for (int i = 0; i < bytes; ++i) {
    if (buffer[i] != (unsigned char)((seed + (uint64_t)i) * 0x9e3779b97f4a7c15ULL >> 56)) return 0;
  }
  return 1;
}

// Microseconds that memcpy takes for as many bytes, the hardware's limit: `pieces` of them in turn, one behind another in
// both buffers, so that they meet the same caches as the messages.
static inline double memcpy_us(unsigned char* to, const unsigned char* from, size_t bytes, int pieces) {
  const int turns = bytes < 4096 ? 10000 : bytes < (1 << 18) ? 512 : 32;
  for (int batch = 0; batch < 21; ++batch) {
    const long long start = now_ns();
    for (int i = 0; i < turns; ++i) {
      const size_t offset = (size_t)(i % pieces) * bytes;
      memcpy(to + offset, from + offset, bytes);
      __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
    }
    add_sample((double)(now_ns() - start) / turns / 1e3);
  }
  return median_sample();
}
