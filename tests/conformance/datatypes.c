/* SPDX-License-Identifier: Apache-2.0 */
/* Datatypes: extents, messages with other types on the other side, packing, contents. */
#include "check.h"

static int right(void) { return (rank_ + 1) % size_; }
static int left(void) { return (rank_ + size_ - 1) % size_; }

/* `count` elements of `type` go to the next rank, which receives them packed; then the reverse. */
static void round_trip(const char* what, MPI_Datatype type, int count) {
  int bytes, position = 0, all, before = failures_;
  MPI_Aint lb, extent, true_lb, true_extent;
  MPI_Type_commit(&type);
  MPI_Type_size(type, &bytes);
  MPI_Type_get_extent(type, &lb, &extent);
  MPI_Type_get_true_extent(type, &true_lb, &true_extent);
  const size_t room = (size_t)(extent * count + true_extent + true_lb + 64);
  char *from = malloc(room), *to = calloc(room, 1), *packed, *arrived;
  for (size_t i = 0; i < room; ++i) from[i] = (char)(i * 13 + (size_t)rank_);
  MPI_Pack_size(count, type, MPI_COMM_WORLD, &all);
  CHECK(all >= bytes * count);
  packed = malloc((size_t)all + 1);
  arrived = calloc((size_t)all + 1, 1);
  MPI_Pack(from, count, type, packed, all, &position, MPI_COMM_WORLD);
  CHECK_EQUAL(position, bytes * count);
  MPI_Sendrecv(from, count, type, right(), 1, arrived, bytes * count, MPI_BYTE, left(), 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (size_ == 1) CHECK(memcmp(packed, arrived, (size_t)(bytes * count)) == 0);
  /* Back with the type on the receiving side: every byte of the type is where it was. */
  MPI_Sendrecv(arrived, bytes * count, MPI_BYTE, left(), 2, to, count, type, right(), 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  position = 0;
  MPI_Pack(to, count, type, arrived, all, &position, MPI_COMM_WORLD);
  CHECK(memcmp(packed, arrived, (size_t)(bytes * count)) == 0);
  memset(to, 0, room);
  position = 0;
  MPI_Unpack(packed, all, &position, to, count, type, MPI_COMM_WORLD);
  position = 0;
  MPI_Pack(to, count, type, arrived, all, &position, MPI_COMM_WORLD);
  CHECK(memcmp(packed, arrived, (size_t)(bytes * count)) == 0);
  if (failures_ != before) fprintf(stderr, "rank %d: that was %s\n", rank_, what);
  free(from);
  free(to);
  free(packed);
  free(arrived);
  MPI_Type_free(&type);
}

struct record {
  char c;
  double d;
  int i[3];
};

static MPI_Datatype record_type(void) {
  MPI_Datatype t, resized, types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  int lengths[3] = {1, 1, 3};
  MPI_Aint at[3] = {offsetof(struct record, c), offsetof(struct record, d), offsetof(struct record, i)};
  MPI_Type_create_struct(3, lengths, at, types, &t);
  MPI_Type_create_resized(t, 0, sizeof(struct record), &resized);
  MPI_Type_free(&t);
  return resized;
}

static void shapes(void) {
  MPI_Datatype t, of;
  const int lengths[3] = {2, 0, 3}, places[3] = {5, 1, 9};
  const MPI_Aint addresses[3] = {40, 8, 100};
  const int sizes[3] = {4, 5, 6}, sub[3] = {2, 3, 2}, starts[3] = {1, 1, 3};
  for (int count = 1; count <= 300; count += 299) {
    MPI_Type_contiguous(3, MPI_INT, &t);
    round_trip("contiguous", t, count);
    MPI_Type_vector(4, 2, 5, MPI_INT, &t);
    round_trip("vector", t, count);
    MPI_Type_create_hvector(3, 1, 17, MPI_SHORT, &t);
    round_trip("hvector", t, count);
    MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &t);
    round_trip("indexed", t, count);
    MPI_Type_create_hindexed(3, lengths, addresses, MPI_INT, &t);
    round_trip("hindexed", t, count);
    MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &t);
    round_trip("indexed_block", t, count);
    round_trip("struct", record_type(), count);
    MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_INT, &t);
    round_trip("subarray", t, count);
    MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_FORTRAN, MPI_FLOAT, &t);
    round_trip("subarray of Fortran", t, count);
    of = record_type();
    MPI_Type_vector(3, 2, 4, of, &t);
    MPI_Type_free(&of);
    round_trip("vector of structs", t, count);
    MPI_Type_vector(3, 1, 2, MPI_INT, &of);
    MPI_Type_create_hvector(2, 2, 200, of, &t);
    MPI_Type_free(&of);
    round_trip("hvector of vectors", t, count);
  }
}

/* The parts of all ranks of a distributed array cover it, each element once. */
static void distributed(void) {
  enum { N = 7, M = 10 };
  const int sizes[2] = {N, M}, kinds[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
  const int arguments[2] = {2, MPI_DISTRIBUTE_DFLT_DARG};
  int grid[2] = {0, 0}, mine[N * M], all[N * M], out[N * M];
  MPI_Datatype t;
  int bytes;
  MPI_Dims_create(size_, 2, grid);
  MPI_Type_create_darray(size_, rank_, 2, sizes, kinds, arguments, grid, MPI_ORDER_C, MPI_INT, &t);
  MPI_Type_commit(&t);
  MPI_Type_size(t, &bytes);
  for (int i = 0; i < N * M; ++i) out[i] = 1, mine[i] = 0;
  MPI_Sendrecv(out, bytes / 4, MPI_INT, 0, 1, mine, 1, t, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  MPI_Allreduce(mine, all, N * M, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N * M; ++i) CHECK_EQUAL(all[i], 1);
  MPI_Type_free(&t);
}

static void contents(void) {
  MPI_Datatype t, types[1];
  int integers, addresses, datatypes, combiner, values[3];
  MPI_Type_vector(4, 2, 5, MPI_INT, &t);
  MPI_Type_get_envelope(t, &integers, &addresses, &datatypes, &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_VECTOR);
  CHECK_EQUAL(integers, 3);
  CHECK_EQUAL(addresses, 0);
  CHECK_EQUAL(datatypes, 1);
  MPI_Type_get_contents(t, 3, 0, 1, values, NULL, types);
  CHECK(values[0] == 4 && values[1] == 2 && values[2] == 5 && types[0] == MPI_INT);
  MPI_Type_free(&t);
}

static void external(void) {
  const int value = 0x01020304;
  const unsigned char expected[4] = {1, 2, 3, 4};
  char packed[4];
  MPI_Aint position = 0;
  int back = 0;
  MPI_Pack_external("external32", &value, 1, MPI_INT, packed, sizeof packed, &position);
  CHECK(position == 4 && memcmp(packed, expected, 4) == 0);
  position = 0;
  MPI_Unpack_external("external32", packed, sizeof packed, &position, &back, 1, MPI_INT);
  CHECK_EQUAL(back, value);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  shapes();
  distributed();
  contents();
  external();
  return end();
}
