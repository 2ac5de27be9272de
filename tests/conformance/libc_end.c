/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a rank: exit() in a function, what atexit() and on_exit() have registered, in reverse order and each rank's
   own, MPI_Finalize in such a handler. */
#include <unistd.h>

#include "check.h"

static int order_;

/* Ends the rank with a status that no rank should have. */
static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s (step %d)\n", rank_, what, order_);
  _exit(9);
}

static void last(void) {
  if (++order_ != 5) fail("the first handler was not called last");
  printf("rank %d has ended\n", rank_);
}

static void with_status(int status, void* argument) {
  if (++order_ != 4 || argument != &order_) fail("on_exit's handler was called at a wrong time");
  if (status != 0) fail("on_exit's handler got a wrong status");
}

static void late(void) {
  if (++order_ != 3) fail("a handler of a handler was not called next");
}

static void finalize(void) {
  int finalized = 1, all = 0;
  if (++order_ != 2) fail("the last handler was not called first");
  MPI_Finalized(&finalized);
  if (finalized) fail("MPI has been finalized before");
  MPI_Allreduce(&failures_, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all != 0) fail("a check has failed");
  MPI_Finalize();
  atexit(late);
}

static void leave(void) {
  ++order_;
  exit(0);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  CHECK_EQUAL(atexit(last), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQUAL(on_exit(with_status, &order_), 0);
  CHECK_EQUAL(atexit(finalize), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  leave();
  return 8;
}
