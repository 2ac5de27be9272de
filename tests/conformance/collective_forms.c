/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective operation, blocking, non-blocking and persistent, with int and with large counts, in place too, with
   counts that are zero, small and large, on communicators of several orders and sizes. */
#include "forms.h"

#include "narrow.h"

#include "collective_forms.inc"

#include "large.h"

#include "collective_forms.inc"

static void barriers(MPI_Comm comm) {
  MPI_Request r;
  MPI_Barrier(comm);
  MPI_Ibarrier(comm, &r);
  finish(&r, NONBLOCKING);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &r);
  finish(&r, PERSISTENT);
}

static void all_on(MPI_Comm comm) {
  static const int sizes[] = {0, 3, 1200};
  barriers(comm);
  for (int form = 0; form < FORMS; ++form)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      all(comm, form, sizes[s]);
      all_large(comm, form, sizes[s]);
    }
}

int main(int argc, char** argv) {
  MPI_Comm turned, parts;
  begin(&argc, &argv);
  all_on(MPI_COMM_WORLD);
  all_on(MPI_COMM_SELF);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &turned);
  all_on(turned);
  MPI_Comm_free(&turned);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &parts);
  all_on(parts);
  MPI_Comm_free(&parts);
  return end();
}
