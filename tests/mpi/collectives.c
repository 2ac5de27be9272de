// SPDX-License-Identifier: Apache-2.0
// Small barriers, broadcasts and reductions of several threads, each on its own communicator, often enough for the
// messages of the layer to take over; beside calls that they do not fit. Any number of processes.
#include "bench/mpi/measure.h"

enum { k_rounds = 120, k_large = 3000 };
static MPI_Comm lanes[k_max_threads];

static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {  // 2 x 2 matrices: the order matters
  (void)type;
  for (int i = 0; i < *count; ++i) {
    const uint64_t* a = (const uint64_t*)in + 4 * i;
    uint64_t* b = (uint64_t*)inout + 4 * i;
    const uint64_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
                           a[2] * b[1] + a[3] * b[3]};
    memcpy(b, c, sizeof c);
  }
}

static void first_of_pairs(void* in, void* inout, int* count,
                           MPI_Datatype* type) {  // of two ints only the first counts
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[2 * i] += ((const int*)in)[2 * i];
}

static void check_barrier(MPI_Comm comm, int round, int rank, int ranks) {
  if (rank == round % ranks && round % 10 == 0) nanosleep(&(struct timespec){0, 2000000}, NULL);
  long long times[2] = {now_ns(), 0}, latest = 0, first = 0;
  MPI_Barrier(comm);
  times[1] = -now_ns();
  MPI_Allreduce(&times[0], &latest, 1, MPI_LONG_LONG, MPI_MAX, comm);
  MPI_Allreduce(&times[1], &first, 1, MPI_LONG_LONG, MPI_MAX, comm);
  expect(-first >= latest, "a process left a barrier before another one came");
}

static void check_reductions(MPI_Comm comm, int round, int rank, int ranks) {
  uint64_t out[260] = {0}, in[260], sum = 0;
  const int count = 1 + (round * 7) % 260;  // up to 2080 bytes: some are too large for messages
  for (int i = 0; i < count; ++i) out[i] = scramble((uint64_t)(round * 1000 + i)) * (uint64_t)(rank + 1);
  MPI_Allreduce(out, in, count, MPI_UINT64_T, MPI_SUM, comm);
  for (int r = 0; r < ranks; ++r) sum += (uint64_t)(r + 1);
  for (int i = 0; i < count; ++i) expect(in[i] == scramble((uint64_t)(round * 1000 + i)) * sum, "a sum is wrong");

  int greatest[3] = {rank, round - rank, -rank};
  MPI_Allreduce(MPI_IN_PLACE, greatest, 3, MPI_INT, MPI_MAX, comm);
  expect(greatest[0] == ranks - 1 && greatest[1] == round && greatest[2] == 0, "a maximum in place is wrong");

  // Whatever the order of additions, all have the same bits.
  double part = 1.0 / (3 + rank + round), total = 0;
  MPI_Allreduce(&part, &total, 1, MPI_DOUBLE, MPI_SUM, comm);
  double of_first = total;
  MPI_Bcast(&of_first, 1, MPI_DOUBLE, 0, comm);
  expect(memcmp(&of_first, &total, sizeof total) == 0, "sums of two processes differ");

  struct {
    double value;
    int rank;
  } mine = {(double)((rank + round) % ranks), rank}, least;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
  expect(least.value == 0 && (least.rank + round) % ranks == 0, "the place of a minimum is wrong");
}

static void check_own_operations(MPI_Comm comm, int round, int rank, int ranks) {
  static MPI_Datatype matrix, pair;
  static MPI_Op product, firsts;
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  static int made;
  pthread_mutex_lock(&once);
  if (!made) {
    MPI_Type_contiguous(4, MPI_UINT64_T, &matrix);
    MPI_Type_commit(&matrix);
    MPI_Op_create(multiply, 0, &product);
    MPI_Datatype one;
    MPI_Type_contiguous(1, MPI_INT, &one);
    MPI_Type_create_resized(one, 0, 2 * sizeof(int), &pair);  // with a hole
    MPI_Type_commit(&pair);
    MPI_Op_create(first_of_pairs, 1, &firsts);
    made = 1;
  }
  pthread_mutex_unlock(&once);
  uint64_t mine[4], got[4], expected[4] = {1, 0, 0, 1};
  for (int r = 0; r < ranks; ++r) {
    uint64_t next[4];
    int one = 1;
    for (int i = 0; i < 4; ++i) next[i] = scramble((uint64_t)(round * 64 + r * 4 + i));
    if (r == rank) memcpy(mine, next, sizeof mine);
    multiply(expected, next, &one, NULL);
    memcpy(expected, next, sizeof next);
  }
  MPI_Allreduce(mine, got, 1, matrix, product, comm);
  expect(memcmp(got, expected, sizeof got) == 0, "a product of matrices is wrong");

  int pairs[4] = {rank, 77, 2 * rank, 78}, sums[4] = {0, 5, 0, 6};
  MPI_Allreduce(pairs, sums, 2, pair, firsts, comm);
  expect(sums[0] == ranks * (ranks - 1) / 2 && sums[2] == 2 * sums[0], "a sum with holes is wrong");
  expect(sums[1] == 5 && sums[3] == 6, "a sum changed what lies in a hole");
}

static void check_broadcasts(MPI_Comm comm, int round, int rank, int ranks) {
  for (int root = 0; root < ranks; ++root) {
    int values[40];
    const int base = round * 100 + root;
    for (int i = 0; i < 40; ++i) values[i] = rank == root ? base + i : -1;
    if (rank == root) {  // every second int, as one value of a type of its own
      MPI_Datatype stride;
      MPI_Type_vector(20, 1, 2, MPI_INT, &stride);
      MPI_Type_commit(&stride);
      MPI_Bcast(values, 1, stride, root, comm);
      MPI_Type_free(&stride);
    } else {
      MPI_Bcast(values, 20, MPI_INT, root, comm);
      for (int i = 0; i < 20; ++i) expect(values[i] == base + 2 * i, "a broadcast brought something else");
      for (int i = 20; i < 40; ++i) expect(values[i] == -1, "a broadcast wrote too much");
    }
  }
  static __thread int large[k_large];
  for (int i = 0; i < k_large; ++i) large[i] = rank == 0 ? round + i : -1;
  MPI_Bcast(large, k_large, MPI_INT, 0, comm);
  for (int i = 0; i < k_large; ++i) expect(large[i] == round + i, "a large broadcast brought something else");
  MPI_Bcast(large, 0, MPI_INT, ranks - 1, comm);
}

static void body(int thread) {
  const MPI_Comm comm = lanes[thread];
  const int rank = g_program.rank, ranks = g_program.ranks;
  measured_begin();
  for (int round = 0; round < k_rounds; ++round) {
    long begun = round, sum = 0;
    MPI_Request outstanding;  // one of the program's own, over the same communicator
    MPI_Iallreduce(&begun, &sum, 1, MPI_LONG, MPI_SUM, comm, &outstanding);
    check_barrier(comm, round, rank, ranks);
    check_reductions(comm, round, rank, ranks);
    MPI_Wait(&outstanding, MPI_STATUS_IGNORE);
    expect(sum == (long)round * ranks, "a sum that was begun is wrong");
    check_own_operations(comm, round, rank, ranks);
    check_broadcasts(comm, round, rank, ranks);
  }
  measured_end();
}

static int copies;
static int copy(MPI_Comm comm, int keyval, void* extra, void* value, void* made, int* flag) {
  (void)comm, (void)keyval, (void)extra, (void)value, (void)made;
  ++copies;
  *flag = 0;
  return MPI_SUCCESS;
}

// Many communicators, one after the other and at the same time; the layer asks for none of their attributes.
static void many(int at_once) {
  int keyval;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
  MPI_Comm* comms = malloc((size_t)at_once * sizeof *comms);
  if (comms == NULL) stop_program("no memory");
  for (int again = 0; again < 2; ++again) {
    for (int c = 0; c < at_once; ++c) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
      MPI_Comm_set_attr(comms[c], keyval, comms);
    }
    for (int round = 0; round < 40; ++round)
      for (int c = 0; c < at_once; ++c) {
        int rank = g_program.rank;
        MPI_Allreduce(MPI_IN_PLACE, &rank, 1, MPI_INT, MPI_SUM, comms[c]);
        expect(rank == g_program.ranks * (g_program.ranks - 1) / 2, "a sum of many is wrong");
      }
    for (int c = 0; c < at_once; ++c) MPI_Comm_free(&comms[c]);
  }
  expect(copies == 0, "an attribute of the program was copied");
  MPI_Comm_free_keyval(&keyval);
  free(comms);
}

static void between_groups(void) {
  if (g_program.ranks < 2) return;
  MPI_Comm half, both;
  const int side = g_program.rank % 2;
  MPI_Comm_split(MPI_COMM_WORLD, side, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &both);
  int others = 0;
  MPI_Comm_remote_size(both, &others);
  for (int round = 0; round < 40; ++round) {
    int one = 1 + side, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, both);
    expect(sum == others * (2 - side), "a sum of the other group is wrong");
    MPI_Barrier(both);
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    expect(sum == one, "a sum of one process is wrong");
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  const struct option options[] = {{"threads", 3, "each with a communicator"}, {"at-once", 300, "communicators"}};
  begin_program(argc, argv, "collectives", options, 2);
  const int threads = option_count("threads");
  for (int t = 0; t < threads; ++t) MPI_Comm_dup(MPI_COMM_WORLD, &lanes[t]);
  run_threads(threads, body);
  between_groups();
  many(option_count("at-once"));
  for (int t = 1; t < threads; ++t) MPI_Comm_free(&lanes[t]);  // the first is left to MPI_Finalize
  add_metric("seconds", "s", measured_seconds());
  return end_program();
}
