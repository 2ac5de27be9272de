/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations, blocking, non-blocking and persistent, against values that every rank can compute. */
#include "check.h"

static int value(int rank, int i) { return rank * 1000 + i * 7 + 1; }

static void one_to_many(void) {
  enum { N = 37 };
  int data[N], *all = malloc(sizeof(int) * N * (size_t)size_), part[N];
  for (int root = 0; root<size_; root += size_> 4 ? 5 : 1) {
    for (int i = 0; i < N; ++i) data[i] = rank_ == root ? value(root, i) : -1;
    MPI_Bcast(data, N, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) CHECK_EQUAL(data[i], value(root, i));
    for (int i = 0; i < N; ++i) part[i] = value(rank_, i);
    MPI_Gather(part, N, MPI_INT, all, N, MPI_INT, root, MPI_COMM_WORLD);
    if (rank_ == root)
      for (int r = 0; r < size_; ++r)
        for (int i = 0; i < N; ++i) CHECK_EQUAL(all[r * N + i], value(r, i));
    if (rank_ == root)
      for (int i = 0; i < N * size_; ++i) all[i] = value(i / N, i % N) + 5;
    memset(part, 0, sizeof part);
    MPI_Scatter(all, N, MPI_INT, part, N, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < N; ++i) CHECK_EQUAL(part[i], value(rank_, i) + 5);
  }
  free(all);
}

/* Rank r gives r % 4 + 1 elements. */
static void blocks(void) {
  int *counts = malloc(sizeof(int) * (size_t)size_), *places = malloc(sizeof(int) * (size_t)size_), all = 0;
  const int mine = rank_ % 4 + 1;
  int own[4], *data;
  for (int r = 0; r < size_; ++r) {
    counts[r] = r % 4 + 1;
    places[r] = all + r; /* with a gap behind each */
    all += counts[r];
  }
  all += size_;
  data = malloc(sizeof(int) * (size_t)all);
  for (int i = 0; i < mine; ++i) own[i] = value(rank_, i);
  for (int form = 0; form < 2; ++form) {
    for (int i = 0; i < all; ++i) data[i] = -1;
    if (form == 0)
      MPI_Allgatherv(own, mine, MPI_INT, data, counts, places, MPI_INT, MPI_COMM_WORLD);
    else
      MPI_Gatherv(own, mine, MPI_INT, data, counts, places, MPI_INT, size_ - 1, MPI_COMM_WORLD);
    if (form == 0 || rank_ == size_ - 1)
      for (int r = 0; r < size_; ++r) {
        for (int i = 0; i < counts[r]; ++i) CHECK_EQUAL(data[places[r] + i], value(r, i));
        CHECK_EQUAL(data[places[r] + counts[r]], -1);
      }
  }
  memset(own, 0, sizeof own);
  MPI_Scatterv(data, counts, places, MPI_INT, own, mine, MPI_INT, size_ - 1, MPI_COMM_WORLD);
  for (int i = 0; i < mine; ++i) CHECK_EQUAL(own[i], value(rank_, i));
  free(counts);
  free(places);
  free(data);
}

static void all_to_all(void) {
  const size_t n = (size_t)size_;
  int *out = malloc(sizeof(int) * n * 2), *in = malloc(sizeof(int) * n * 2);
  int *counts = malloc(sizeof(int) * n), *places = malloc(sizeof(int) * n);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * n);
  for (int r = 0; r < size_; ++r) {
    out[2 * r] = value(rank_, r);
    out[2 * r + 1] = value(r, rank_);
    counts[r] = 2;
    places[r] = 2 * (size_ - 1 - r);
    types[r] = MPI_INT;
  }
  MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) {
    CHECK_EQUAL(in[2 * r], value(r, rank_));
    CHECK_EQUAL(in[2 * r + 1], value(rank_, r));
  }
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) CHECK_EQUAL(in[2 * r], value(rank_, r));
  /* Blocks in the reverse order on both sides. */
  MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) CHECK_EQUAL(in[places[r]], value(r, size_ - 1 - rank_));
  for (int r = 0; r < size_; ++r) places[r] = (int)sizeof(int) * 2 * r;
  MPI_Alltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) CHECK_EQUAL(in[2 * r], value(r, rank_));
  free(out);
  free(in);
  free(counts);
  free(places);
  free(types);
}

/* 2 x 2 matrices modulo a prime: associative, not commutative. */
static void multiply(void* left, void* right, int* count, MPI_Datatype* type) {
  int *a = left, *b = right;
  (void)type;
  for (int k = 0; k < *count; ++k, a += 4, b += 4) {
    const int r[4] = {(a[0] * b[0] + a[1] * b[2]) % 1009, (a[0] * b[1] + a[1] * b[3]) % 1009,
                      (a[2] * b[0] + a[3] * b[2]) % 1009, (a[2] * b[1] + a[3] * b[3]) % 1009};
    memcpy(b, r, sizeof r);
  }
}

static void matrix_of(int rank, int* m) {
  m[0] = rank + 1;
  m[1] = 2;
  m[2] = rank % 3;
  m[3] = 5;
}

static void reductions(void) {
  enum { N = 9 };
  double in[N], out[N];
  long long sum = 0;
  int before = 0, upto = 0, m[4], product[4], expected[4], step[4];
  MPI_Op op;
  MPI_Datatype matrix;
  struct {
    double v;
    int at;
  } pair = {(rank_ * 7 + 3) % size_, rank_}, least;
  for (int r = 0; r < size_; ++r) sum += r + 1;
  for (int i = 0; i < N; ++i) in[i] = rank_ + 1 + i * 0.5;
  MPI_Allreduce(in, out, N, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) CHECK(out[i] == (double)sum + size_ * i * 0.5);
  MPI_Reduce(in, out, N, MPI_DOUBLE, MPI_MAX, size_ - 1, MPI_COMM_WORLD);
  if (rank_ == size_ - 1)
    for (int i = 0; i < N; ++i) CHECK(out[i] == size_ + i * 0.5);
  memcpy(out, in, sizeof in);
  MPI_Allreduce(MPI_IN_PLACE, out, N, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  for (int i = 0; i < N; ++i) CHECK(out[i] == 1 + i * 0.5);
  MPI_Allreduce(&pair, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
  for (int r = 0; r < size_; ++r) CHECK((r * 7 + 3) % size_ > least.v || r >= least.at);
  MPI_Scan(&rank_, &upto, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(upto, rank_ * (rank_ + 1) / 2);
  MPI_Exscan(&rank_, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank_ > 0) CHECK_EQUAL(before, rank_ * (rank_ - 1) / 2);
  MPI_Type_contiguous(4, MPI_INT, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op_create(multiply, 0, &op);
  matrix_of(rank_, m);
  MPI_Allreduce(m, product, 1, matrix, op, MPI_COMM_WORLD);
  matrix_of(0, expected);
  for (int r = 1; r < size_; ++r) {
    int count = 1;
    matrix_of(r, step);
    multiply(expected, step, &count, NULL);
    memcpy(expected, step, sizeof step);
  }
  CHECK(memcmp(product, expected, sizeof expected) == 0);
  MPI_Op_free(&op);
  MPI_Type_free(&matrix);
}

static void scattered_reductions(void) {
  int *data = malloc(sizeof(int) * (size_t)size_ * 3), *counts = malloc(sizeof(int) * (size_t)size_), got[3], sum = 0;
  for (int r = 0; r < size_; ++r) sum += r;
  for (int i = 0; i < size_ * 3; ++i) data[i] = rank_ + i;
  MPI_Reduce_scatter_block(data, got, 3, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) CHECK_EQUAL(got[i], sum + size_ * (rank_ * 3 + i));
  for (int r = 0; r < size_; ++r) counts[r] = 1 + r % 2;
  MPI_Reduce_scatter(data, got, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const int first = rank_ + rank_ / 2;
  for (int i = 0; i < counts[rank_]; ++i) CHECK_EQUAL(got[i], sum + size_ * (first + i));
  free(data);
  free(counts);
}

/* Several at once, and each started again and again. */
static void without_waiting(void) {
  enum { ROUNDS = 5 };
  MPI_Request r[4];
  int a, b = 0, c[2], all = 0;
  int* each = malloc(sizeof(int) * (size_t)size_);
  a = rank_ == 0 ? 99 : 0;
  c[0] = rank_;
  MPI_Ibcast(&a, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Iallreduce(&rank_, &b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[1]);
  MPI_Ibarrier(MPI_COMM_WORLD, &r[2]);
  MPI_Iallgather(&rank_, 1, MPI_INT, each, 1, MPI_INT, MPI_COMM_WORLD, &r[3]);
  MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(a, 99);
  CHECK_EQUAL(b, size_ * (size_ - 1) / 2);
  for (int i = 0; i < size_; ++i) CHECK_EQUAL(each[i], i);
  MPI_Allreduce_init(&c[0], &c[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int i = 0; i < ROUNDS; ++i) {
    c[0] = rank_ + i;
    MPI_Startall(2, r);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    all = size_ * (size_ - 1) / 2 + size_ * i;
    CHECK_EQUAL(c[1], all);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  free(each);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  one_to_many();
  blocks();
  all_to_all();
  reductions();
  scattered_reductions();
  without_waiting();
  return end();
}
