/* SPDX-License-Identifier: Apache-2.0 */
/* For the programs of this folder: each runs with any number of ranks, and with every library of MPI's standard ABI. */
#ifndef SHOAL_TESTS_CONFORMANCE_CHECK_H
#define SHOAL_TESTS_CONFORMANCE_CHECK_H

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank_, size_, failures_;

#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      ++failures_;                                                                    \
      fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, __LINE__, rank_, #condition); \
    }                                                                                 \
  } while (0)

#define CHECK_EQUAL(a, b)                                                                                      \
  do {                                                                                                         \
    const long long got_ = (long long)(a), wanted_ = (long long)(b);                                           \
    if (got_ != wanted_) {                                                                                     \
      ++failures_;                                                                                             \
      fprintf(stderr, "%s:%d: rank %d: %s is %lld, not %lld\n", __FILE__, __LINE__, rank_, #a, got_, wanted_); \
    }                                                                                                          \
  } while (0)

/* For what the standard says and MPICH 5.0 does otherwise. */
#define CHECK_UNLESS_MPICH(condition) CHECK((condition) || is_mpich())

static inline int is_mpich(void) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  return strncmp(version, "MPICH", 5) == 0;
}

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

/* The same for programs with threads; what the library provides. */
static inline int begin_with_threads(int* argc, char*** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  return provided;
}

/* The status of the program: 1 if any check of any rank has failed. */
static inline int end(void) {
  int all = 0;
  MPI_Allreduce(&failures_, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

#endif
