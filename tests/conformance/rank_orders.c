/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations on communicators whose ranks are in various orders of the world's, with operations that do not
   commute, elements with gaps, and vectors short and long: a library may combine and forward by process, and nobody sees it. */
#include "check.h"

enum { LONGEST = 3000 };

/* x -> a x + b over 32 bits; composed in the order of ranks, which matters. There is a gap behind each. */
typedef struct {
  unsigned a, b, gap;
} affine;

static affine of_rank(int rank, int i) {
  affine m = {(unsigned)(rank * 2654435761u + i * 40503u) | 1u, (unsigned)(rank * 97 + i * 31 + 7), 0};
  return m;
}
static affine then(affine first, affine second) {
  affine m = {first.a * second.a, first.b * second.a + second.b, 0};
  return m;
}
static affine composed(int end, int i) { /* of ranks 0 ... end - 1 */
  affine m = of_rank(0, i);
  for (int r = 1; r < end; ++r) m = then(m, of_rank(r, i));
  return m;
}
static void compose(void* lower, void* upper, int* n, MPI_Datatype* type) {
  (void)type;
  affine *l = lower, *u = upper;
  for (int i = 0; i < *n; ++i) {
    const affine m = then(l[i], u[i]);
    u[i].a = m.a; /* not the gap: behind the last element there may be none */
    u[i].b = m.b;
  }
}
static void fill(affine* m, int rank, int n) {
  for (int i = 0; i < n; ++i) m[i] = of_rank(rank, i);
}
/* How many of m[0 ... n) are not those of ranks below `end`, of elements from `first` on. */
static int differ(const affine* m, int end, int first, int n) {
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const affine wanted = composed(end, first + i);
    wrong += m[i].a != wanted.a || m[i].b != wanted.b;
  }
  return wrong;
}

static affine in[LONGEST], out[LONGEST];

static void test_reductions(MPI_Comm comm, MPI_Datatype map, MPI_Op op, int n) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  fill(in, rank, n);
  memset(out, 0, sizeof out);
  MPI_Allreduce(in, out, n, map, op, comm);
  CHECK_EQUAL(differ(out, size, 0, n), 0);
  for (int root = 0; root < size; root += 1 + size / 2) {
    memset(out, 0, sizeof out);
    MPI_Reduce(in, out, n, map, op, root, comm);
    if (rank == root) CHECK_EQUAL(differ(out, size, 0, n), 0);
  }
  memset(out, 0, sizeof out);
  MPI_Scan(in, out, n, map, op, comm);
  CHECK_EQUAL(differ(out, rank + 1, 0, n), 0);
  fill(out, rank, n);
  MPI_Exscan(MPI_IN_PLACE, out, n, map, op, comm);
  if (rank > 0) CHECK_EQUAL(differ(out, rank, 0, n), 0);

  /* Every third rank gets nothing, the last one what is left. */
  int* const counts = malloc(sizeof(int) * (size_t)size);
  int left = n, first = 0;
  for (int r = 0; r < size; ++r) {
    counts[r] = r + 1 == size ? left : r % 3 == 1 ? 0 : left < n / size + 1 ? left : n / size + 1;
    if (r < rank) first += counts[r];
    left -= counts[r];
  }
  memset(out, 0, sizeof out);
  MPI_Reduce_scatter(in, out, counts, map, op, comm);
  CHECK_EQUAL(differ(out, size, first, counts[rank]), 0);
  fill(out, rank, n);
  MPI_Reduce_scatter(MPI_IN_PLACE, out, counts, map, op, comm);
  CHECK_EQUAL(differ(out, size, first, counts[rank]), 0);
  const int each = n / size;
  memset(out, 0, sizeof out);
  if (!is_mpich()) { /* 5.0.2 makes room for the elements without their gaps, and crashes */
    MPI_Reduce_scatter_block(in, out, each, map, op, comm);
    CHECK_EQUAL(differ(out, size, rank * each, each), 0);
  }
  free(counts);
}

/* What commutes may be combined by process in any communicator. */
static void test_pairs(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  struct {
    double value;
    int rank;
  } mine[3], least[3];
  for (int i = 0; i < 3; ++i) {
    mine[i].value = (rank * 7 + i) % size;
    mine[i].rank = rank;
  }
  MPI_Allreduce(mine, least, 3, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  for (int i = 0; i < 3; ++i) {
    int at = 0;
    for (int r = size - 1; r >= 0; --r)
      if ((r * 7 + i) % size <= (at * 7 + i) % size) at = r;
    CHECK_EQUAL(least[i].rank, at);
  }
  long long each[2] = {rank, 3 * rank}, sums[2] = {0, 0};
  MPI_Scan(each, sums, 2, MPI_LONG_LONG, MPI_SUM, comm);
  CHECK_EQUAL(sums[0], (long long)rank * (rank + 1) / 2);
  CHECK_EQUAL(sums[1], 3LL * rank * (rank + 1) / 2);
}

static int value(int from, int to, int i) { return from * 1009 + to * 13 + i; }

/* Blocks of `n` ints, or of n + rank % 3. */
static void test_blocks(MPI_Comm comm, int n) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const size_t room = (size_t)(n + 3) * (size_t)size;
  int *const given = malloc(sizeof(int) * room), *const taken = malloc(sizeof(int) * room);
  int *const counts = malloc(sizeof(int) * (size_t)size), *const places = malloc(sizeof(int) * (size_t)size);
  int* const own_counts = malloc(sizeof(int) * (size_t)size);
  for (int r = 0, at = 0; r < size; ++r) {
    counts[r] = n + r % 3;
    own_counts[r] = n + rank % 3;
    places[r] = at;
    at += n + 2;
  }
  const int root = size / 2;

  for (int i = 0; i < n; ++i) given[i] = value(rank, 0, i);
  memset(taken, 0, sizeof(int) * room);
  MPI_Gather(given, n, MPI_INT, taken, n, MPI_INT, root, comm);
  for (int r = 0; rank == root && r < size; ++r)
    for (int i = 0; i < n; ++i) CHECK_EQUAL(taken[r * n + i], value(r, 0, i));
  memset(taken, 0, sizeof(int) * room);
  MPI_Allgather(given, n, MPI_INT, taken, n, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) CHECK_EQUAL(taken[r * n + i], value(r, 0, i));

  for (int i = 0; i < n + rank % 3; ++i) given[i] = value(rank, 1, i);
  memset(taken, 0, sizeof(int) * room);
  MPI_Gatherv(given, n + rank % 3, MPI_INT, taken, counts, places, MPI_INT, root, comm);
  for (int r = 0; rank == root && r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) CHECK_EQUAL(taken[places[r] + i], value(r, 1, i));
  memset(taken, 0, sizeof(int) * room);
  MPI_Allgatherv(given, n + rank % 3, MPI_INT, taken, counts, places, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) CHECK_EQUAL(taken[places[r] + i], value(r, 1, i));

  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) given[r * n + i] = value(rank, r, i);
  memset(taken, 0, sizeof(int) * room);
  MPI_Scatter(given, n, MPI_INT, taken, n, MPI_INT, root, comm);
  for (int i = 0; i < n; ++i) CHECK_EQUAL(taken[i], value(root, rank, i));
  memset(taken, 0, sizeof(int) * room);
  MPI_Alltoall(given, n, MPI_INT, taken, n, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < n; ++i) CHECK_EQUAL(taken[r * n + i], value(r, rank, i));
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, given, n, MPI_INT, comm);
  CHECK(memcmp(given, taken, sizeof(int) * (size_t)n * (size_t)size) == 0);

  for (int r = 0; r < size; ++r)
    for (int i = 0; i < counts[r]; ++i) given[places[r] + i] = value(rank, r, i);
  memset(taken, 0, sizeof(int) * room);
  MPI_Scatterv(given, counts, places, MPI_INT, taken, counts[rank], MPI_INT, root, comm);
  for (int i = 0; i < counts[rank]; ++i) CHECK_EQUAL(taken[i], value(root, rank, i));
  memset(taken, 0, sizeof(int) * room);
  MPI_Alltoallv(given, counts, places, MPI_INT, taken, own_counts, places, MPI_INT, comm);
  for (int r = 0; r < size; ++r)
    for (int i = 0; i < own_counts[r]; ++i) CHECK_EQUAL(taken[places[r] + i], value(r, rank, i));
  free(own_counts);
  free(places);
  free(counts);
  free(taken);
  free(given);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  MPI_Comm orders[4];
  MPI_Comm_dup(MPI_COMM_WORLD, &orders[0]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_, &orders[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank_ * 7 % 5, &orders[2]);      /* shuffled */
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 3 == 0, rank_, &orders[3]); /* a part */
  MPI_Datatype two, map;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &two);
  MPI_Type_create_resized(two, 0, sizeof(affine), &map);
  MPI_Type_commit(&map);
  MPI_Op op;
  MPI_Op_create(compose, 0, &op);
  for (int i = 0; i < 4; ++i) {
    test_reductions(orders[i], map, op, 1);
    test_reductions(orders[i], map, op, 50);
    test_reductions(orders[i], map, op, LONGEST);
    test_pairs(orders[i]);
    test_blocks(orders[i], 1);
    test_blocks(orders[i], 70);
    test_blocks(orders[i], 2000);
    MPI_Comm_free(&orders[i]);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&map);
  MPI_Type_free(&two);
  return end();
}
