/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of MPI-1 that MPI-3 removed. They are not of the standard ABI: MPICH's library for it has none. */
#include "check.h"

struct record {
  char c;
  double d;
};

/* A type over the addresses of two variables, as HPL sends a panel: with MPI_BOTTOM. */
static void addresses(void) {
  int first = rank_, last[2] = {rank_ + 100, rank_ + 200};
  int got_first = -1, got_last[2] = {-1, -1};
  int lengths[2] = {1, 2};
  MPI_Aint from[2], to[2];
  MPI_Datatype types[2] = {MPI_INT, MPI_INT}, out, in;
  const int left = (rank_ + size_ - 1) % size_;
  MPI_Address(&first, &from[0]);
  MPI_Address(last, &from[1]);
  MPI_Address(&got_first, &to[0]);
  MPI_Address(got_last, &to[1]);
  MPI_Type_struct(2, lengths, from, types, &out);
  MPI_Type_struct(2, lengths, to, types, &in);
  MPI_Type_commit(&out);
  MPI_Type_commit(&in);
  MPI_Sendrecv(MPI_BOTTOM, 1, out, (rank_ + 1) % size_, 0, MPI_BOTTOM, 1, in, left, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK_EQUAL(got_first, left);
  CHECK_EQUAL(got_last[0], left + 100);
  CHECK_EQUAL(got_last[1], left + 200);
  MPI_Type_free(&out);
  MPI_Type_free(&in);
}

static void bounds(void) {
  MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, record, resized;
  int lengths[2] = {1, 1};
  MPI_Aint at[2] = {offsetof(struct record, c), offsetof(struct record, d)}, bound = -1;
  MPI_Type_struct(2, lengths, at, types, &record);
  MPI_Type_extent(record, &bound);
  CHECK_EQUAL(bound, sizeof(struct record));
  MPI_Type_create_resized(record, -8, 48, &resized);
  MPI_Type_lb(resized, &bound);
  CHECK_EQUAL(bound, -8);
  MPI_Type_ub(resized, &bound);
  CHECK_EQUAL(bound, 40);
  MPI_Type_free(&record);
  MPI_Type_free(&resized);
}

/* Both take bytes where their like without h takes elements. */
static void strides(void) {
  const int values[6] = {10, 11, 12, 13, 14, 15};
  int packed[3] = {0, 0, 0}, position = 0, lengths[2] = {1, 2};
  MPI_Aint at[2] = {16, 4};
  MPI_Datatype type;
  MPI_Type_hvector(3, 1, 8, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Pack(values, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  CHECK(packed[0] == 10 && packed[1] == 12 && packed[2] == 14);
  MPI_Type_free(&type);
  MPI_Type_hindexed(2, lengths, at, MPI_INT, &type);
  MPI_Type_commit(&type);
  position = 0;
  MPI_Pack(values, 1, type, packed, sizeof packed, &position, MPI_COMM_SELF);
  CHECK(packed[0] == 14 && packed[1] == 11 && packed[2] == 12);
  MPI_Type_free(&type);
}

static int handled;

static void handle(MPI_Comm* comm, int* code, ...) {
  (void)code;
  handled += *comm == MPI_COMM_WORLD ? 1 : 100;
}

static void handlers(void) {
  MPI_Errhandler mine, before, now;
  MPI_Errhandler_get(MPI_COMM_WORLD, &before);
  MPI_Errhandler_create(handle, &mine);
  MPI_Errhandler_set(MPI_COMM_WORLD, mine);
  MPI_Errhandler_get(MPI_COMM_WORLD, &now);
  CHECK(now == mine);
  MPI_Errhandler_free(&now);
  CHECK(MPI_Send(NULL, 0, MPI_INT, size_, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
  CHECK_EQUAL(handled, 1);
  MPI_Errhandler_set(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  MPI_Errhandler_free(&mine);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (!is_mpich()) {
    addresses();
    bounds();
    strides();
    handlers();
  }
  return end();
}
