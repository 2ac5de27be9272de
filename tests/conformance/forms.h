/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations in their three forms, one call for all of them; narrow.h or large.h says with which counts. */
#ifndef SHOAL_TESTS_CONFORMANCE_FORMS_H
#define SHOAL_TESTS_CONFORMANCE_FORMS_H

#include "check.h"

enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

static inline void finish(MPI_Request* r, int form) {
  if (form == PERSISTENT) MPI_Start(r);
  MPI_Wait(r, MPI_STATUS_IGNORE);
  if (form == PERSISTENT) MPI_Request_free(r);
  CHECK(*r == MPI_REQUEST_NULL);
}

/* RUN(Bcast, Ibcast, comm, form, arguments before the communicator) */
#define RUN(name, iname, comm, form, ...)                                                 \
  do {                                                                                    \
    MPI_Request run_ = MPI_REQUEST_NULL;                                                  \
    if ((form) == BLOCKING) CALL(name)(__VA_ARGS__, comm);                                \
    if ((form) == NONBLOCKING) CALL(iname)(__VA_ARGS__, comm, &run_);                     \
    if ((form) == PERSISTENT) CALL(name##_init)(__VA_ARGS__, comm, MPI_INFO_NULL, &run_); \
    if ((form) != BLOCKING) finish(&run_, form);                                          \
  } while (0)

static inline int value(int rank, int i) { return rank * 1000 + i % 97 + 1; }

static inline int* new_ints(int n) {
  int* at = malloc(sizeof(int) * (size_t)(n + 1));
  for (int i = 0; i < n; ++i) at[i] = -1;
  return at;
}
static inline void fill(int* at, int n, int rank) {
  for (int i = 0; i < n; ++i) at[i] = value(rank, i);
}
static inline int is_filled(const int* at, int n, int rank) {
  for (int i = 0; i < n; ++i)
    if (at[i] != value(rank, i)) return 0;
  return 1;
}
/* The sum of all ranks' values from `first` to below `end`. */
static inline int is_sum(const int* at, int n, int first, int end, int from) {
  int ranks = 0;
  for (int r = first; r < end; ++r) ranks += r * 1000;
  for (int i = 0; i < n; ++i)
    if (at[i] != ranks + (end - first) * ((i + from) % 97 + 1)) return 0;
  return 1;
}

#endif
