/* SPDX-License-Identifier: Apache-2.0 */
/* Non-blocking collective operations: many at once, ended in any order, on several communicators, beside messages and
   blocking operations; ranks that come late. */
#include "forms.h"

#include "narrow.h"

static void spin(int turns) {
  for (volatile int i = 0; i < turns; ++i) continue;
}

/* Begun in one order and waited for in the other. */
static void backwards(void) {
  enum { N = 40, K = 300 };
  MPI_Request r[N];
  int* data = new_ints(N * K);
  int* sums = new_ints(N * K);
  for (int i = 0; i < N; ++i) {
    if (i % 2 == 0) {
      if (rank_ == i % size_) fill(data + i * K, K, i);
      MPI_Ibcast(data + i * K, K, MPI_INT, i % size_, MPI_COMM_WORLD, &r[i]);
    } else {
      fill(data + i * K, K, rank_);
      MPI_Iallreduce(data + i * K, sums + i * K, K, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    }
  }
  for (int i = N - 1; i >= 0; --i) {
    MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    CHECK(i % 2 == 0 ? is_filled(data + i * K, K, i) : is_sum(sums + i * K, K, 0, size_, 0));
  }
  free(data);
  free(sums);
}

/* The last rank is late; the others test. */
static void late(void) {
  int flag = 0, turns = 0, sum = 0, got = -1;
  MPI_Request r, s[2];
  MPI_Status st;
  if (rank_ == size_ - 1) spin(20000000);
  MPI_Iallreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r);
  /* Messages go on meanwhile. */
  MPI_Irecv(&got, 1, MPI_INT, (rank_ + size_ - 1) % size_, 1, MPI_COMM_WORLD, &s[0]);
  MPI_Isend(&rank_, 1, MPI_INT, (rank_ + 1) % size_, 1, MPI_COMM_WORLD, &s[1]);
  for (; !flag; ++turns) MPI_Test(&r, &flag, &st);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  MPI_Waitall(2, s, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(got, (rank_ + size_ - 1) % size_);
}

/* A blocking operation comes between the beginning of another and its end. */
static void overtaken(void) {
  int first = rank_ == 0 ? 5 : -1, second = rank_ == 0 ? 6 : -1, sum = 0;
  MPI_Request r[2];
  MPI_Ibcast(&first, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[0]);
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Ibcast(&second, 1, MPI_INT, 0, MPI_COMM_WORLD, &r[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  CHECK(first == 5 && second == 6 && sum == size_ * (size_ - 1) / 2);
}

/* Ranks begin operations of two communicators in different orders. */
static void crossed(void) {
  MPI_Comm one, two;
  MPI_Request r[2];
  int a = 0, b = 0, none, index = -1, seen = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm_dup(MPI_COMM_WORLD, &two);
  for (int round = 0; round < 20; ++round) {
    if ((rank_ + round) % 2 == 0) {
      MPI_Iallreduce(&rank_, &a, 1, MPI_INT, MPI_SUM, one, &r[0]);
      MPI_Iallreduce(&rank_, &b, 1, MPI_INT, MPI_MAX, two, &r[1]);
    } else {
      MPI_Iallreduce(&rank_, &b, 1, MPI_INT, MPI_MAX, two, &r[1]);
      MPI_Iallreduce(&rank_, &a, 1, MPI_INT, MPI_SUM, one, &r[0]);
    }
    seen = 0;
    for (int i = 0; i < 2; ++i) {
      MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
      CHECK(index == 0 || index == 1);
      seen |= 1 << index;
    }
    CHECK(seen == 3 && a == size_ * (size_ - 1) / 2 && b == size_ - 1);
  }
  MPI_Waitany(2, r, &none, MPI_STATUS_IGNORE);
  CHECK_EQUAL(none, MPI_UNDEFINED);
  MPI_Comm_free(&one);
  MPI_Comm_free(&two);
}

/* A communicator that is freed while its operations are on their way. */
static void freed(void) {
  MPI_Comm copy;
  MPI_Request r[2];
  int sum = 0, *all = new_ints(size_);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Iallreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, copy, &r[0]);
  MPI_Iallgather(&rank_, 1, MPI_INT, all, 1, MPI_INT, copy, &r[1]);
  MPI_Comm_free(&copy);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  for (int i = 0; i < size_; ++i) CHECK_EQUAL(all[i], i);
  free(all);
}

/* An operation of the program, freed at once. It is not associative. */
static void fold(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] = ((int*)in)[i] * 2 + ((int*)inout)[i];
}
static void freed_operation(void) {
  MPI_Op op;
  MPI_Request r;
  int out[2] = {rank_ + 1, 7}, in[2] = {-1, -1};
  MPI_Op_create(fold, 0, &op);
  MPI_Iallreduce(out, in, 2, MPI_INT, op, MPI_COMM_WORLD, &r);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  /* Only what does not depend on how the library puts parentheses: of one and of two ranks. */
  if (size_ == 1) CHECK(in[0] == 1 && in[1] == 7);
  if (size_ == 2) CHECK(in[0] == 2 * 1 + 2 && in[1] == 21);
}

/* So are types, while an operation waits for the last rank. */
static void freed_types(void) {
  const int n = size_;
  int *out = new_ints(4 * n), *in = new_ints(4 * n), *counts = new_ints(n), *places = new_ints(n);
  MPI_Datatype every_second, other, *types = malloc(sizeof(MPI_Datatype) * (size_t)n);
  MPI_Request r[2];
  int one[4] = {rank_, -1, 1, -1};
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  fill(out, 4 * n, rank_);
  for (int i = 0; i < n; ++i) {
    counts[i] = 1;
    places[i] = 16 * i;
    types[i] = every_second;
  }
  if (rank_ == 0) spin(5000000);
  MPI_Ialltoallw(out, counts, places, types, in, counts, places, types, MPI_COMM_WORLD, &r[0]);
  MPI_Ibcast(one, 1, every_second, n - 1, MPI_COMM_WORLD, &r[1]);
  MPI_Type_free(&every_second);
  MPI_Type_vector(5, 3, 7, MPI_DOUBLE, &other); /* perhaps where the old one was */
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; ++i) {
    CHECK(in[4 * i] == value(i, 4 * rank_) && in[4 * i + 2] == value(i, 4 * rank_ + 2));
    CHECK(in[4 * i + 1] == -1 && in[4 * i + 3] == -1);
  }
  CHECK(one[0] == n - 1 && one[1] == -1 && one[2] == 1);
  MPI_Type_free(&other);
  free(out);
  free(in);
  free(counts);
  free(places);
  free(types);
}

/* Duplicates are collective operations, too. */
static void duplicates(void) {
  MPI_Comm copies[3];
  MPI_Request r[3];
  int sum = 0;
  for (int i = 0; i < 3; ++i) MPI_Comm_idup(MPI_COMM_WORLD, &copies[i], &r[i]);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 2; i >= 0; --i) {
    MPI_Wait(&r[i], MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, copies[i]);
    CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  }
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&copies[i]);
}

/* Programs should leave their arrays alone until the end. Some do not, and other libraries let them: so does Shoal. */
static void arrays_that_change(void) {
  int *counts = malloc((size_t)size_ * sizeof(int)), *places = malloc((size_t)size_ * sizeof(int));
  int* in = malloc((size_t)size_ * sizeof(int));
  MPI_Request r;
  for (int form = 0; form < 2; ++form) {
    for (int i = 0; i < size_; ++i) {
      counts[i] = 1;
      places[i] = size_ - 1 - i;
      in[i] = -1;
    }
    if (form == 0)
      MPI_Iallgatherv(&rank_, 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, &r);
    else
      MPI_Allgatherv_init(&rank_, 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    for (int i = 0; i < size_; ++i) counts[i] = places[i] = 1 << 30;
    if (form == 1) MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (form == 1) MPI_Request_free(&r);
    for (int i = 0; i < size_; ++i) CHECK_EQUAL(in[i], size_ - 1 - i);
  }
  free(counts);
  free(places);
  free(in);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  backwards();
  late();
  overtaken();
  crossed();
  freed();
  freed_operation();
  freed_types();
  duplicates();
  if (!is_mpich()) arrays_that_change();
  return end();
}
