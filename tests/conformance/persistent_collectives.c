/* SPDX-License-Identifier: Apache-2.0 */
/* Persistent collective operations: begun again and again with other data, together, in place, on parts of the world. */
#include "forms.h"

#include "narrow.h"

enum { ROUNDS = 6, K = 50 };

/* One of each kind, all begun by one call. */
static void together(MPI_Comm comm) {
  int me, n;
  MPI_Request r[8];
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &n);
  const int root = n - 1;
  int *bcast = new_ints(K), *mine = new_ints(K), *gathered = new_ints(K * n), *everything = new_ints(K * n);
  int *sum = new_ints(K), *scan = new_ints(K), *block = new_ints(K), *parts = new_ints(K * n),
      *swapped = new_ints(K * n);
  MPI_Bcast_init(bcast, K, MPI_INT, root, comm, MPI_INFO_NULL, &r[0]);
  MPI_Gather_init(mine, K, MPI_INT, gathered, K, MPI_INT, root, comm, MPI_INFO_NULL, &r[1]);
  MPI_Allgather_init(mine, K, MPI_INT, everything, K, MPI_INT, comm, MPI_INFO_NULL, &r[2]);
  MPI_Allreduce_init(mine, sum, K, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[3]);
  MPI_Scan_init(mine, scan, K, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[4]);
  MPI_Reduce_scatter_block_init(parts, block, K, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &r[5]);
  MPI_Alltoall_init(parts, K, MPI_INT, swapped, K, MPI_INT, comm, MPI_INFO_NULL, &r[6]);
  MPI_Barrier_init(comm, MPI_INFO_NULL, &r[7]);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < K; ++i) bcast[i] = -1;
    if (me == root) fill(bcast, K, round);
    fill(mine, K, me + round);
    fill(parts, K * n, me + round);
    MPI_Startall(8, r);
    if (round % 2 == 0)
      MPI_Waitall(8, r, MPI_STATUSES_IGNORE);
    else
      for (int i = 7; i >= 0; --i) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    CHECK(is_filled(bcast, K, round));
    for (int i = 0; i < n && me == root; ++i) CHECK(is_filled(gathered + i * K, K, i + round));
    for (int i = 0; i < n; ++i) CHECK(is_filled(everything + i * K, K, i + round));
    CHECK(is_sum(sum, K, round, n + round, 0));
    CHECK(is_sum(scan, K, round, me + 1 + round, 0));
    CHECK(is_sum(block, K, round, n + round, me * K));
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < K; ++k) CHECK_EQUAL(swapped[i * K + k], value(i + round, me * K + k));
    for (int i = 0; i < 8; ++i) CHECK(r[i] != MPI_REQUEST_NULL);
  }
  for (int i = 0; i < 8; ++i) MPI_Request_free(&r[i]);
  free(bcast);
  free(mine);
  free(gathered);
  free(everything);
  free(sum);
  free(scan);
  free(block);
  free(parts);
  free(swapped);
}

/* In place the result of one round is what the next one begins with. */
static void in_place(void) {
  MPI_Request r[2];
  long long sum = rank_ + 1, wanted = (long long)size_ * (size_ + 1) / 2;
  int *all = new_ints(size_), flag = 0;
  MPI_Allreduce_init(MPI_IN_PLACE, &sum, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
  MPI_Alltoall_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  for (int i = 0; i < size_; ++i) all[i] = rank_ * size_ + i;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Start(&r[0]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    CHECK_EQUAL(sum, wanted);
    wanted *= size_;
    MPI_Start(&r[1]);
    for (flag = 0; !flag;) MPI_Test(&r[1], &flag, MPI_STATUS_IGNORE);
    for (int i = 0; i < size_; ++i) CHECK_EQUAL(all[i], round % 2 == 0 ? i * size_ + rank_ : rank_ * size_ + i);
  }
  MPI_Request_free(&r[0]);
  MPI_Request_free(&r[1]);
  free(all);
}

/* Between two rounds other operations and messages of the same communicator. */
static void between(void) {
  MPI_Request r;
  int sum = 0, other = 0, mine = 0;
  MPI_Reduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  for (int round = 0; round < ROUNDS; ++round) {
    mine = rank_ + round;
    MPI_Start(&r);
    MPI_Allreduce(&rank_, &other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (rank_ == 0) CHECK_EQUAL(sum, size_ * (size_ - 1) / 2 + size_ * round);
    CHECK_EQUAL(other, size_ - 1);
  }
  MPI_Request_free(&r);
  /* One that is never started. */
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  MPI_Request_free(&r);
  CHECK(r == MPI_REQUEST_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* The type and the operation are freed before the first start. */
static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < 2 * *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}
static void freed(void) {
  MPI_Datatype pair;
  MPI_Op op;
  MPI_Request r;
  int out[4] = {1, 2, 3, rank_}, in[4] = {0};
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op_create(add, 1, &op);
  MPI_Allreduce_init(out, in, 2, pair, op, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  MPI_Type_free(&pair);
  MPI_Op_free(&op);
  MPI_Type_vector(5, 3, 7, MPI_DOUBLE, &pair); /* perhaps where the old one was */
  for (int round = 0; round < 3; ++round) {
    memset(in, 0, sizeof in);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(in[0] == size_ && in[1] == 2 * size_ && in[2] == 3 * size_ && in[3] == size_ * (size_ - 1) / 2);
  }
  MPI_Request_free(&r);
  MPI_Type_free(&pair);
}

/* Ranks start several ones in orders of their own, with other operations in between: only the order of the making is
   common. Sums over all ranks, and neighbours in a ring. */
static void in_any_order(void) {
  enum { OPS = 5 };
  MPI_Request r[OPS + 2];
  MPI_Comm ring;
  const int dims[1] = {size_}, periods[1] = {1};
  int mine[OPS], sum[OPS], sent[2][2], got[2][2], largest = -1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  for (int i = 0; i < OPS; ++i) MPI_Allreduce_init(&mine[i], &sum[i], 1, MPI_INT, MPI_SUM, ring, MPI_INFO_NULL, &r[i]);
  for (int i = 0; i < 2; ++i)
    MPI_Neighbor_alltoall_init(sent[i], 1, MPI_INT, got[i], 1, MPI_INT, ring, MPI_INFO_NULL, &r[OPS + i]);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < OPS; ++i) mine[i] = rank_ + 100 * i + round;
    for (int i = 0; i < 2; ++i)
      for (int side = 0; side < 2; ++side) sent[i][side] = 1000 * (rank_ + 1) + 100 * i + 10 * side + round;
    if (rank_ % 2 == 0) MPI_Barrier(ring);
    for (int i = 0; i < OPS + 2; ++i) MPI_Start(&r[(i + rank_ + round) % (OPS + 2)]);
    if (rank_ % 2 != 0) MPI_Barrier(ring);
    MPI_Allreduce(&rank_, &largest, 1, MPI_INT, MPI_MAX, ring);
    CHECK_EQUAL(largest, size_ - 1);
    for (int i = OPS + 1; i >= 0; --i) MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < OPS; ++i) CHECK_EQUAL(sum[i], size_ * (size_ - 1) / 2 + size_ * (100 * i + round));
    for (int i = 0; i < 2; ++i) {
      CHECK_EQUAL(got[i][0], 1000 * ((rank_ + size_ - 1) % size_ + 1) + 100 * i + 10 + round);
      CHECK_EQUAL(got[i][1], 1000 * ((rank_ + 1) % size_ + 1) + 100 * i + round);
    }
  }
  for (int i = 0; i < OPS + 2; ++i) MPI_Request_free(&r[i]);
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  MPI_Comm part;
  begin(&argc, &argv);
  together(MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 3, -rank_, &part);
  together(part);
  MPI_Comm_free(&part);
  in_place();
  between();
  freed();
  in_any_order();
  return end();
}
