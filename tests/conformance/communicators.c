/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators, groups, intercommunicators, topologies, attributes, info objects. */
#include "check.h"

static void duplicates(void) {
  MPI_Comm copy, other;
  MPI_Request r;
  int result, sum, value = rank_, got = -1;
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_compare(MPI_COMM_WORLD, copy, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_set_name(copy, "copy");
  MPI_Comm_get_name(copy, name, &length);
  CHECK(strcmp(name, "copy") == 0);
  /* A message in one is not seen in the other. */
  MPI_Isend(&value, 1, MPI_INT, (rank_ + 1) % size_, 1, copy, &r);
  int flag;
  MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, (rank_ + size_ - 1) % size_);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_idup(copy, &other, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, other);
  CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
  MPI_Comm_free(&other);
  MPI_Comm_free(&copy);
  CHECK(copy == MPI_COMM_NULL);
}

static void parts(void) {
  MPI_Comm part, shared;
  MPI_Group world, odd, both;
  int n, r, sum = 0, expected = 0;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 3, -rank_, &part);
  MPI_Comm_size(part, &n);
  MPI_Comm_rank(part, &r);
  CHECK_EQUAL(n, (size_ - rank_ % 3 + 2) / 3);
  CHECK_EQUAL(r, n - 1 - rank_ / 3); /* the keys turn the order round */
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, part);
  for (int i = rank_ % 3; i < size_; i += 3) expected += i;
  CHECK_EQUAL(sum, expected);
  MPI_Comm_free(&part);
  MPI_Comm_split(MPI_COMM_WORLD, rank_ == 0 ? MPI_UNDEFINED : 1, 0, &part);
  CHECK_EQUAL(part == MPI_COMM_NULL, rank_ == 0);
  if (part != MPI_COMM_NULL) MPI_Comm_free(&part);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  MPI_Comm_size(shared, &n);
  CHECK(n >= 1 && n <= size_);
  MPI_Comm_free(&shared);
  int range[1][3] = {{1, size_ - 1, 2}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  if (size_ > 1) {
    MPI_Group_range_incl(world, 1, range, &odd);
    MPI_Comm_create(MPI_COMM_WORLD, odd, &part);
    CHECK_EQUAL(part == MPI_COMM_NULL, rank_ % 2 == 0);
    if (part != MPI_COMM_NULL) {
      MPI_Comm_rank(part, &r);
      CHECK_EQUAL(r, rank_ / 2);
      MPI_Comm_free(&part);
    }
    if (rank_ % 2 == 1) {
      MPI_Comm_create_group(MPI_COMM_WORLD, odd, 17, &part);
      MPI_Barrier(part);
      MPI_Comm_free(&part);
    }
    MPI_Group_difference(world, odd, &both);
    MPI_Group_size(both, &n);
    CHECK_EQUAL(n, (size_ + 1) / 2);
    MPI_Group_free(&both);
    MPI_Group_free(&odd);
  }
  MPI_Group_free(&world);
}

/* Even and odd ranks. */
static void between_groups(void) {
  MPI_Comm half, inter, merged;
  int n, remote, sum = -1, r, one[1], flag;
  if (size_ < 2) return;
  MPI_Comm_split(MPI_COMM_WORLD, rank_ % 2, rank_, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank_ % 2 == 0 ? 1 : 0, 5, &inter);
  MPI_Comm_test_inter(inter, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Comm_size(inter, &n);
  MPI_Comm_remote_size(inter, &remote);
  CHECK_EQUAL(n + remote, size_);
  MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, inter);
  int expected = 0;
  for (int i = 1 - rank_ % 2; i < size_; i += 2) expected += i;
  CHECK_EQUAL(sum, expected); /* of the other group */
  one[0] = rank_ == 0 ? 123 : 0;
  MPI_Bcast(one, 1, MPI_INT, rank_ % 2 == 1 ? 0 : rank_ == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
  if (rank_ % 2 == 1) CHECK_EQUAL(one[0], 123);
  if (rank_ / 2 < remote) {
    int got = -1;
    MPI_Sendrecv(&rank_, 1, MPI_INT, rank_ / 2, 3, &got, 1, MPI_INT, rank_ / 2, 3, inter, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, rank_ % 2 == 0 ? rank_ + 1 : rank_ - 1);
  }
  MPI_Intercomm_merge(inter, rank_ % 2, &merged);
  MPI_Comm_rank(merged, &r);
  CHECK_EQUAL(r, rank_ % 2 == 0 ? rank_ / 2 : (size_ + 1) / 2 + rank_ / 2);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void grids(void) {
  int dims[2] = {0, 0}, periods[2] = {1, 0}, at[2], down, up, lower, upper, n, r, kind;
  MPI_Comm grid, row;
  MPI_Dims_create(size_, 2, dims);
  CHECK_EQUAL(dims[0] * dims[1], size_);
  CHECK(dims[0] >= dims[1]);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Topo_test(grid, &kind);
  CHECK_EQUAL(kind, MPI_CART);
  MPI_Comm_rank(grid, &r);
  MPI_Cart_coords(grid, r, 2, at);
  CHECK_EQUAL(at[0] * dims[1] + at[1], r);
  MPI_Cart_shift(grid, 0, 1, &down, &up);
  CHECK_EQUAL(up, (at[0] + 1) % dims[0] * dims[1] + at[1]);
  MPI_Cart_shift(grid, 1, 1, &lower, &upper);
  CHECK_EQUAL(upper, at[1] + 1 < dims[1] ? r + 1 : MPI_PROC_NULL);
  int out[4] = {r * 10, r * 10 + 1, r * 10 + 2, r * 10 + 3}, in[4] = {-1, -1, -1, -1}, from[4] = {-1, -1, -1, -1};
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, grid);
  CHECK_EQUAL(in[0], down * 10 + 1); /* what the one below sends upwards */
  CHECK_EQUAL(in[1], up * 10);
  CHECK_EQUAL(in[2], lower == MPI_PROC_NULL ? -1 : lower * 10 + 3);
  CHECK_EQUAL(in[3], upper == MPI_PROC_NULL ? -1 : upper * 10 + 2);
  MPI_Neighbor_allgather(&r, 1, MPI_INT, from, 1, MPI_INT, grid);
  CHECK_EQUAL(from[0], down);
  CHECK_EQUAL(from[1], up);
  int remain[2] = {0, 1};
  MPI_Cart_sub(grid, remain, &row);
  MPI_Comm_size(row, &n);
  CHECK_EQUAL(n, dims[1]);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
  int source = (rank_ + size_ - 1) % size_, destination = (rank_ + 1) % size_, got = -1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &source, MPI_UNWEIGHTED, 1, &destination, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &grid);
  MPI_Neighbor_allgather(&rank_, 1, MPI_INT, &got, 1, MPI_INT, grid);
  CHECK_EQUAL(got, source);
  MPI_Comm_free(&grid);
}

static int deleted;
static int copy_twice(MPI_Comm c, int key, void* extra, void* value, void* copied, int* flag) {
  (void)c, (void)key, (void)extra;
  *(void**)copied = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
static int count_deleted(MPI_Comm c, int key, void* value, void* extra) {
  (void)c, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static void attributes(void) {
  int key, flag, *bound;
  char data[2];
  void* value;
  MPI_Comm copy;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  CHECK(flag && *bound >= 32767);
  MPI_Comm_create_keyval(copy_twice, count_deleted, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, data);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, key, &value, &flag);
  CHECK(flag && value == data + 1);
  MPI_Comm_free(&copy);
  CHECK_EQUAL(deleted, 1);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  CHECK_EQUAL(deleted, 2);
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_free_keyval(&key);
}

static void infos(void) {
  MPI_Info info;
  char text[MPI_MAX_INFO_VAL + 1];
  int n, flag, length = sizeof text;
  MPI_Info_create(&info);
  MPI_Info_set(info, "one", "1");
  MPI_Info_set(info, "two", "zwei");
  MPI_Info_get_nkeys(info, &n);
  CHECK_EQUAL(n, 2);
  MPI_Info_get_string(info, "two", &length, text, &flag);
  CHECK(flag && strcmp(text, "zwei") == 0);
  CHECK_EQUAL(length, 5);
  MPI_Info_delete(info, "one");
  MPI_Info_get_string(info, "one", &length, text, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  duplicates();
  parts();
  between_groups();
  grids();
  attributes();
  infos();
  return end();
}
