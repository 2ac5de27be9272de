/* SPDX-License-Identifier: Apache-2.0 */
/* Groups: all ways to make one, compare two and translate ranks; communicators that are made of them. */
#include "check.h"

static void check_ranks(MPI_Group group, const int* wanted, int n) {
  MPI_Group world;
  int size = -1;
  MPI_Group_size(group, &size);
  CHECK_EQUAL(size, n);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 0; i < n && i < size; ++i) {
    int there = -1;
    MPI_Group_translate_ranks(group, 1, &i, world, &there);
    CHECK_EQUAL(there, wanted[i]);
  }
  MPI_Group_free(&world);
}

static int compared(MPI_Group a, MPI_Group b) {
  int result = -1;
  MPI_Group_compare(a, b, &result);
  return result;
}

static void chosen(MPI_Group world) {
  int *ranks = malloc(sizeof(int) * (size_t)size_), n = 0, mine = -1;
  MPI_Group back, odd, even, same;
  for (int r = size_ - 1; r >= 0; --r) ranks[n++] = r;
  MPI_Group_incl(world, n, ranks, &back);
  check_ranks(back, ranks, n);
  MPI_Group_rank(back, &mine);
  CHECK_EQUAL(mine, size_ - 1 - rank_);
  CHECK_EQUAL(compared(world, back), size_ == 1 ? MPI_IDENT : MPI_SIMILAR);
  n = 0;
  for (int r = 1; r < size_; r += 2) ranks[n++] = r;
  MPI_Group_incl(world, n, ranks, &odd);
  check_ranks(odd, ranks, n);
  MPI_Group_excl(world, n, ranks, &even);
  n = 0;
  for (int r = 0; r < size_; r += 2) ranks[n++] = r;
  check_ranks(even, ranks, n);
  MPI_Group_rank(even, &mine);
  CHECK_EQUAL(mine, rank_ % 2 == 0 ? rank_ / 2 : MPI_UNDEFINED);
  CHECK_EQUAL(compared(odd, even), MPI_UNEQUAL);
  MPI_Group_excl(world, 0, NULL, &same);
  CHECK_EQUAL(compared(world, same), MPI_IDENT);
  MPI_Group_free(&same);
  MPI_Group_free(&even);
  MPI_Group_free(&odd);
  MPI_Group_free(&back);
  CHECK(back == MPI_GROUP_NULL);
  free(ranks);
}

static void ranges(MPI_Group world) {
  int *ranks = malloc(sizeof(int) * 2 * (size_t)size_), n = 0;
  int all[2][3] = {{size_ - 1, 0, -2}, {size_ - 2, 0, -2}};
  MPI_Group turned, rest;
  for (int r = size_ - 1; r >= 0; r -= 2) ranks[n++] = r;
  for (int r = size_ - 2; r >= 0; r -= 2) ranks[n++] = r;
  MPI_Group_range_incl(world, size_ > 1 ? 2 : 1, all, &turned);
  check_ranks(turned, ranks, n);
  MPI_Group_range_excl(world, size_ > 1 ? 2 : 1, all, &rest);
  CHECK(rest == MPI_GROUP_EMPTY || compared(rest, MPI_GROUP_EMPTY) == MPI_IDENT);
  MPI_Group_free(&rest);
  MPI_Group_range_excl(world, 1, all, &rest);
  n = 0;
  for (int r = (size_ + 1) % 2 == 0 ? 1 : 0; r < size_ - 1; r += 2) ranks[n++] = r;
  check_ranks(rest, ranks, n);
  MPI_Group_free(&rest);
  MPI_Group_free(&turned);
  free(ranks);
}

/* Of 0 to a and b to the last. */
static void sets(MPI_Group world) {
  const int a = (size_ - 1) * 2 / 3, b = size_ / 3;
  int low[1][3] = {{0, a, 1}}, high[1][3] = {{b, size_ - 1, 1}}, *ranks = malloc(sizeof(int) * (size_t)size_), n = 0;
  MPI_Group one, two, result, none = MPI_GROUP_EMPTY;
  MPI_Group_range_incl(world, 1, low, &one);
  MPI_Group_range_incl(world, 1, high, &two);
  for (int r = b; r < size_; ++r) ranks[n++] = r;
  for (int r = 0; r < b; ++r) ranks[n++] = r;
  MPI_Group_union(two, one, &result); /* those of the first, then those of the second that are not in it */
  check_ranks(result, ranks, a + 1 >= b ? n : size_ - b + a + 1);
  MPI_Group_free(&result);
  n = 0;
  for (int r = b; r <= a; ++r) ranks[n++] = r;
  MPI_Group_intersection(one, two, &result);
  check_ranks(result, ranks, n);
  MPI_Group_free(&result);
  n = 0;
  for (int r = 0; r < b && r <= a; ++r) ranks[n++] = r;
  MPI_Group_difference(one, two, &result);
  check_ranks(result, ranks, n);
  MPI_Group_free(&result);
  MPI_Group_union(one, none, &result);
  CHECK_EQUAL(compared(one, result), MPI_IDENT);
  MPI_Group_free(&result);
  MPI_Group_intersection(one, none, &result);
  check_ranks(result, ranks, 0);
  MPI_Group_free(&result);
  MPI_Group_difference(one, one, &result);
  check_ranks(result, ranks, 0);
  MPI_Group_free(&result);
  MPI_Group_free(&one);
  MPI_Group_free(&two);
  free(ranks);
}

static void translated(MPI_Group world) {
  MPI_Group self;
  int ranks[3] = {rank_, MPI_PROC_NULL, (rank_ + 1) % size_}, there[3] = {-9, -9, -9};
  MPI_Comm_group(MPI_COMM_SELF, &self);
  MPI_Group_translate_ranks(world, 3, ranks, self, there);
  CHECK_EQUAL(there[0], 0);
  CHECK_EQUAL(there[1], MPI_PROC_NULL);
  CHECK_EQUAL(there[2], size_ == 1 ? 0 : MPI_UNDEFINED);
  MPI_Group_free(&self);
}

/* Communicators of groups, in orders of their own; several at once. */
static void communicators(MPI_Group world) {
  int turned[1][3] = {{size_ - 1, 0, -1}}, r = -1, sum = 0, *ranks = malloc(sizeof(int) * (size_t)size_), n = 0;
  MPI_Group group;
  MPI_Comm comm, part;
  MPI_Group_range_incl(world, 1, turned, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &comm);
  MPI_Comm_rank(comm, &r);
  CHECK_EQUAL(r, size_ - 1 - rank_);
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  MPI_Group_free(&group);
  MPI_Comm_group(comm, &group);
  CHECK_EQUAL(compared(world, group), size_ == 1 ? MPI_IDENT : MPI_SIMILAR);
  MPI_Group_free(&group);
  /* Each color gives its own group to the same call. */
  for (int i = rank_ % 2; i < size_; i += 2) ranks[n++] = i;
  MPI_Group_incl(world, n, ranks, &group);
  MPI_Comm_create(MPI_COMM_WORLD, group, &part);
  MPI_Comm_size(part, &n);
  CHECK_EQUAL(n, (size_ + 1 - rank_ % 2) / 2);
  MPI_Comm_free(&part);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, 3, &part);
  MPI_Comm_rank(part, &r);
  CHECK_EQUAL(r, rank_ / 2);
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_MIN, part);
  CHECK_EQUAL(sum, rank_ % 2);
  MPI_Comm_free(&part);
  MPI_Group_free(&group);
  MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &part);
  CHECK(part == MPI_COMM_NULL);
  MPI_Comm_free(&comm);
  free(ranks);
}

/* A group outlives its communicator. */
static void lifetime(void) {
  MPI_Comm copy;
  MPI_Group group;
  int n = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_group(copy, &group);
  MPI_Comm_free(&copy);
  MPI_Group_size(group, &n);
  CHECK_EQUAL(n, size_);
  MPI_Group_free(&group);
  MPI_Group_size(MPI_GROUP_EMPTY, &n);
  CHECK_EQUAL(n, 0);
  MPI_Group_rank(MPI_GROUP_EMPTY, &n);
  CHECK_EQUAL(n, MPI_UNDEFINED);
}

int main(int argc, char** argv) {
  MPI_Group world;
  begin(&argc, &argv);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  chosen(world);
  ranges(world);
  sets(world);
  translated(world);
  communicators(world);
  lifetime();
  MPI_Group_free(&world);
  return end();
}
