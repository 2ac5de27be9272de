/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing at all: counts of zero with null buffers, types without elements, empty lists, groups of none. */
#include "check.h"

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

static void messages(void) {
  MPI_Status st;
  MPI_Request r[2];
  int count = -1;
  MPI_Sendrecv(NULL, 0, MPI_INT, right(), 1, NULL, 0, MPI_INT, left(), 1, MPI_COMM_WORLD, &st);
  MPI_Get_count(&st, MPI_INT, &count);
  CHECK(count == 0 && st.MPI_SOURCE == left() && st.MPI_TAG == 1);
  MPI_Irecv(NULL, 0, MPI_DOUBLE, left(), 2, MPI_COMM_WORLD, &r[0]);
  MPI_Issend(NULL, 0, MPI_DOUBLE, right(), 2, MPI_COMM_WORLD, &r[1]);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  MPI_Sendrecv_replace(NULL, 0, MPI_INT, right(), 3, left(), 3, MPI_COMM_WORLD, &st);
  MPI_Get_count(&st, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
}

static void types(void) {
  MPI_Datatype all[5];
  const int lengths[2] = {0, 0};
  const MPI_Aint places[2] = {8, 0};
  const MPI_Datatype of[2] = {MPI_INT, MPI_DOUBLE};
  int in = 5, out = 6;
  MPI_Type_contiguous(0, MPI_INT, &all[0]);
  MPI_Type_vector(0, 3, 5, MPI_INT, &all[1]);
  MPI_Type_create_struct(0, NULL, NULL, NULL, &all[2]);
  MPI_Type_create_struct(2, lengths, places, of, &all[3]);
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &all[4]);
  for (int i = 0; i < 5; ++i) {
    MPI_Status st;
    int size = -1, count = -1, position = 0, room = -1;
    char packed[8];
    MPI_Type_commit(&all[i]);
    MPI_Type_size(all[i], &size);
    CHECK_EQUAL(size, 0);
    MPI_Sendrecv(&out, 3, all[i], right(), i, &in, 2, all[i], left(), i, MPI_COMM_WORLD, &st);
    MPI_Get_count(&st, all[i], &count);
    CHECK_EQUAL(count, 0);
    MPI_Get_elements(&st, all[i], &count);
    CHECK_EQUAL(count, 0);
    MPI_Bcast(&in, 4, all[i], 0, MPI_COMM_WORLD);
    MPI_Pack_size(7, all[i], MPI_COMM_WORLD, &room);
    CHECK(room >= 0);
    MPI_Pack(&out, 7, all[i], packed, 8, &position, MPI_COMM_WORLD);
    CHECK_EQUAL(position, 0);
    MPI_Type_free(&all[i]);
  }
  CHECK(in == 5 && out == 6);
}

static void collectives(void) {
  const size_t n = (size_t)size_;
  int *none = calloc(n, sizeof(int)), v = 9;
  MPI_Request r[4];
  MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(NULL, none, none, MPI_INT, NULL, 0, MPI_INT, size_ - 1, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoallv(NULL, none, none, MPI_INT, &v, none, none, MPI_INT, MPI_COMM_WORLD);
  MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce(NULL, NULL, 0, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Scan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Exscan(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(NULL, NULL, none, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Iallreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
  MPI_Ialltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD, &r[2]);
  MPI_Ireduce_scatter_block(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  MPI_Exscan(&rank_, &v, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF); /* rank 0 gets nothing */
  CHECK_EQUAL(v, 9);
  MPI_Datatype* no_types = malloc(n * sizeof(MPI_Datatype));
  for (size_t i = 0; i < n; ++i) no_types[i] = MPI_DATATYPE_NULL;
  MPI_Alltoallw(NULL, none, none, no_types, &v, none, none, no_types, MPI_COMM_WORLD);
  MPI_Ialltoallw(NULL, none, none, no_types, &v, none, none, no_types, MPI_COMM_WORLD, &r[0]);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  free(no_types);
  free(none);
}

static void nothing(void* in, void* inout, int* n, MPI_Datatype* type) { (void)in, (void)inout, (void)n, (void)type; }
static void reductions_of_no_elements(void) {
  MPI_Datatype empty;
  MPI_Op op;
  int v = 4, w = 5;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  MPI_Op_create(nothing, 1, &op);
  MPI_Allreduce(&v, &w, 3, empty, op, MPI_COMM_WORLD);
  MPI_Scan(&v, &w, 3, empty, op, MPI_COMM_WORLD);
  MPI_Reduce(&v, &w, 3, empty, op, 0, MPI_COMM_WORLD);
  CHECK(v == 4 && w == 5);
  MPI_Type_free(&empty);
  MPI_Op_free(&op);
}

static void lists(void) {
  int count = -1, flag = -1, index = -1;
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(flag, 1);
  MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, MPI_UNDEFINED);
  MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
  CHECK(flag == 1 && index == MPI_UNDEFINED);
  MPI_Startall(0, NULL);
}

/* No edge leads anywhere. */
static void neighbours(void) {
  MPI_Comm alone;
  int v = 3, got = 4;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL,
                                 0, &alone);
  MPI_Neighbor_alltoall(&v, 1, MPI_INT, &got, 1, MPI_INT, alone);
  MPI_Neighbor_allgather(&v, 1, MPI_INT, &got, 1, MPI_INT, alone);
  CHECK_EQUAL(got, 4);
  MPI_Comm_free(&alone);
}

/* A buffer for buffered sends that the library makes itself, as large as is needed. */
static void automatic_buffer(void) {
  enum { LONG = 100000 };
  char *out = malloc(LONG), *in = calloc(LONG, 1);
  void* back = NULL;
  int bytes = -1;
  memset(out, rank_, LONG);
  MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
  for (int i = 0; i < 3; ++i) MPI_Bsend(out, LONG, MPI_CHAR, right(), i, MPI_COMM_WORLD);
  for (int i = 2; i >= 0; --i) {
    MPI_Recv(in, LONG, MPI_CHAR, left(), i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(in[0] == (char)left() && in[LONG - 1] == (char)left());
  }
  MPI_Buffer_flush();
  MPI_Buffer_detach(&back, &bytes);
  CHECK(back == MPI_BUFFER_AUTOMATIC);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  messages();
  types();
  collectives();
  reductions_of_no_elements();
  lists();
  neighbours();
  automatic_buffer();
  return end();
}
