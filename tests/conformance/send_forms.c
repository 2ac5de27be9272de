/* SPDX-License-Identifier: Apache-2.0 */
/* Every mode of sending, blocking, non-blocking and persistent, and every way to receive, with int and large counts. */
#include "check.h"

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

static void fill(char* at, int n, int seed) {
  for (int i = 0; i < n; ++i) at[i] = (char)(seed * 29 + i * 3);
}
static int is_filled(const char* at, int n, int seed) {
  for (int i = 0; i < n; ++i)
    if (at[i] != (char)(seed * 29 + i * 3)) return 0;
  return 1;
}

#include "narrow.h"

#include "send_forms.inc"

#include "large.h"

#include "send_forms.inc"

static void bottom(void) {
  /* An absolute address in a datatype: the buffer is MPI_BOTTOM. */
  int out[3] = {rank_, 5, 6}, in[3] = {-1, -1, -1}, length = 3;
  MPI_Aint at_out, at_in;
  MPI_Datatype from, to;
  MPI_Get_address(out, &at_out);
  MPI_Get_address(in, &at_in);
  CHECK_EQUAL(MPI_Aint_diff(MPI_Aint_add(at_out, 4), at_out), 4);
  MPI_Type_create_hindexed(1, &length, &at_out, MPI_INT, &from);
  MPI_Type_create_hindexed(1, &length, &at_in, MPI_INT, &to);
  MPI_Type_commit(&from);
  MPI_Type_commit(&to);
  MPI_Sendrecv(MPI_BOTTOM, 1, from, right(), 1, MPI_BOTTOM, 1, to, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(in[0] == left() && in[1] == 5 && in[2] == 6);
  MPI_Type_free(&from);
  MPI_Type_free(&to);
}

/* Types that are freed while a message of theirs is on its way. */
static void freed_types(void) {
  int out[6] = {rank_, 0, rank_ + 1, 0, rank_ + 2, 0}, in[6] = {0};
  MPI_Datatype t;
  MPI_Request r[2];
  MPI_Type_vector(3, 1, 2, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Irecv(in, 1, t, left(), 2, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(out, 1, t, right(), 2, MPI_COMM_WORLD, &r[1]);
  MPI_Type_free(&t);
  CHECK(t == MPI_DATATYPE_NULL);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  CHECK(in[0] == left() && in[2] == left() + 1 && in[4] == left() + 2 && in[1] == 0);
}

/* A freed communicator stays until its messages have arrived. */
static void freed_communicator(void) {
  int out = rank_ + 40, in = -1;
  MPI_Comm copy;
  MPI_Request r[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Irecv(&in, 1, MPI_INT, left(), 3, copy, &r[0]);
  MPI_Isend(&out, 1, MPI_INT, right(), 3, copy, &r[1]);
  MPI_Comm_free(&copy);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(in, left() + 40);
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 1, 300, 5000, 200000};
  begin(&argc, &argv);
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
    blocking(sizes[s]);
    blocking_large(sizes[s]);
    nonblocking(sizes[s]);
    nonblocking_large(sizes[s]);
    persistent(sizes[s]);
    persistent_large(sizes[s]);
    exchanges(sizes[s]);
    exchanges_large(sizes[s]);
    probed(sizes[s]);
    probed_large(sizes[s]);
  }
  nobody();
  nobody_large();
  bottom();
  freed_types();
  freed_communicator();
  return end();
}
