/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of two groups: how they are made and divided, messages and all collective operations between them. */
#include "forms.h"

#include "narrow.h"

static int is_low, mine, local, remote; /* of the lower part of the world; rank and sizes of the groups */

/* The lower ranks, one of three, and the rest. */
static MPI_Comm make(void) {
  MPI_Comm half, inter;
  const int low = (size_ + 2) / 3;
  is_low = rank_ < low;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, rank_, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? low : 0, 12, &inter);
  MPI_Comm_free(&half);
  MPI_Comm_rank(inter, &mine);
  MPI_Comm_size(inter, &local);
  MPI_Comm_remote_size(inter, &remote);
  CHECK_EQUAL(local, is_low ? low : size_ - low);
  CHECK_EQUAL(remote, size_ - local);
  CHECK_EQUAL(mine, is_low ? rank_ : rank_ - low);
  return inter;
}

static void properties(MPI_Comm inter) {
  MPI_Group group, world;
  MPI_Comm copy, other;
  MPI_Request r;
  int flag = 0, n = 0, zero = 0, first = -1, result = -1, sum = 0;
  MPI_Comm_test_inter(inter, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Comm_test_inter(MPI_COMM_WORLD, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_remote_group(inter, &group);
  MPI_Group_size(group, &n);
  CHECK_EQUAL(n, remote);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_translate_ranks(group, 1, &zero, world, &first);
  CHECK_EQUAL(first, is_low ? local : 0);
  MPI_Group_free(&group);
  MPI_Comm_group(inter, &group);
  MPI_Group_size(group, &n);
  CHECK_EQUAL(n, local);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Comm_dup(inter, &copy);
  MPI_Comm_compare(inter, copy, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(inter, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, MPI_UNEQUAL);
  MPI_Comm_idup(copy, &other, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Comm_test_inter(other, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, other);
  CHECK_EQUAL(sum, remote * (remote - 1) / 2);
  MPI_Comm_free(&other);
  MPI_Comm_disconnect(&copy);
  CHECK(copy == MPI_COMM_NULL);
}

static void messages(MPI_Comm inter) {
  int got = -1, flag = 0;
  MPI_Status st;
  MPI_Request r;
  if (mine < remote) {
    MPI_Isend(&rank_, 1, MPI_INT, mine, 4, inter, &r);
    MPI_Probe(MPI_ANY_SOURCE, 4, inter, &st);
    CHECK_EQUAL(st.MPI_SOURCE, mine);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &st);
    CHECK(got == (is_low ? mine + local : mine) && st.MPI_SOURCE == mine && st.MPI_TAG == 4);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &flag, &st);
  CHECK_EQUAL(flag, 0);
}

/* A root of the lower group, then one of the upper one. */
static int root_of(int from_low, int root) {
  return is_low != from_low ? root : mine == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted(MPI_Comm inter, int form, int from_low, int k) {
  const int in_group = is_low == from_low, of_root = in_group ? local : remote, root = of_root / 2;
  const int others = in_group ? remote : local, at = root_of(from_low, root), is_root = at == MPI_ROOT;
  int *part = new_ints(k), *all = new_ints(k * others), *counts = new_ints(others), *places = new_ints(others);
  for (int r = 0; r < others; ++r) {
    counts[r] = r % 2 * k;
    places[r] = r * k;
  }
  if (is_root) fill(part, k, 5);
  RUN(Bcast, Ibcast, inter, form, part, k, MPI_INT, at);
  /* MPICH 5.0 loses it on the way from another root than 0. */
  if (!in_group && (form == BLOCKING || root == 0 || !is_mpich())) CHECK(is_filled(part, k, 5));
  fill(part, k, mine);
  RUN(Gather, Igather, inter, form, part, k, MPI_INT, all, k, MPI_INT, at);
  for (int r = 0; r < others && is_root; ++r) CHECK(is_filled(all + r * k, k, r));
  for (int i = 0; i < k * others; ++i) all[i] = -1;
  RUN(Gatherv, Igatherv, inter, form, part, mine % 2 * k, MPI_INT, all, counts, places, MPI_INT, at);
  for (int r = 0; r < others && is_root; ++r)
    CHECK(r % 2 == 1 ? is_filled(all + r * k, k, r) : k == 0 || all[r * k] == -1);
  for (int r = 0; r < others; ++r) fill(all + r * k, k, r + 3);
  for (int i = 0; i < k; ++i) part[i] = -1;
  RUN(Scatter, Iscatter, inter, form, all, k, MPI_INT, part, k, MPI_INT, at);
  if (!in_group) CHECK(is_filled(part, k, mine + 3));
  for (int i = 0; i < k; ++i) part[i] = -1;
  RUN(Scatterv, Iscatterv, inter, form, all, counts, places, MPI_INT, part, mine % 2 * k, MPI_INT, at);
  if (!in_group && mine % 2 == 1) CHECK(is_filled(part, k, mine + 3));
  fill(part, k, mine);
  RUN(Reduce, Ireduce, inter, form, part, all, k, MPI_INT, MPI_SUM, at);
  if (is_root) CHECK(is_sum(all, k, 0, others, 0));
  free(part);
  free(all);
  free(counts);
  free(places);
}

static void unrooted(MPI_Comm inter, int form, int k) {
  const int most = local > remote ? local : remote;
  int *out = new_ints(k * most), *in = new_ints(k * most), *counts = new_ints(most), *places = new_ints(most);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)most);
  for (int r = 0; r < most; ++r) {
    counts[r] = r % 2 * k;
    places[r] = r * k;
    types[r] = MPI_INT;
  }
  fill(out, k, mine);
  RUN(Allgather, Iallgather, inter, form, out, k, MPI_INT, in, k, MPI_INT);
  for (int r = 0; r < remote; ++r) CHECK(is_filled(in + r * k, k, r));
  for (int i = 0; i < k * most; ++i) in[i] = -1;
  RUN(Allgatherv, Iallgatherv, inter, form, out, mine % 2 * k, MPI_INT, in, counts, places, MPI_INT);
  for (int r = 0; r < remote; ++r) CHECK(r % 2 == 1 ? is_filled(in + r * k, k, r) : k == 0 || in[r * k] == -1);
  for (int r = 0; r < remote; ++r) fill(out + r * k, k, mine * 32 + r);
  RUN(Alltoall, Ialltoall, inter, form, out, k, MPI_INT, in, k, MPI_INT);
  for (int r = 0; r < remote; ++r) CHECK(is_filled(in + r * k, k, r * 32 + mine));
  for (int r = 0; r < most; ++r) counts[r] = (r + mine) % 2 * k;
  for (int by_bytes = 0; by_bytes < 2; ++by_bytes) {
    for (int i = 0; i < k * most; ++i) in[i] = -1;
    for (int r = 0; r < most && by_bytes; ++r) places[r] *= (int)sizeof(int);
    if (by_bytes)
      RUN(Alltoallw, Ialltoallw, inter, form, out, counts, places, types, in, counts, places, types);
    else
      RUN(Alltoallv, Ialltoallv, inter, form, out, counts, places, MPI_INT, in, counts, places, MPI_INT);
    for (int r = 0; r < remote; ++r) CHECK((r + mine) % 2 == 0 || is_filled(in + r * k, k, r * 32 + mine));
  }
  fill(out, k, mine);
  RUN(Allreduce, Iallreduce, inter, form, out, in, k, MPI_INT, MPI_SUM);
  CHECK(is_sum(in, k, 0, remote, 0));
  free(out);
  free(in);
  free(counts);
  free(places);
  free(types);
}

/* Both groups have the same number of elements in all; the sums of one are scattered over the other. */
static void scattered(MPI_Comm inter, int form, int k) {
  const int all = local * remote * k, each = remote * k;
  int *out = new_ints(all), *in = new_ints(each), *counts = new_ints(local);
  for (int r = 0; r < local; ++r) counts[r] = each;
  fill(out, all, mine);
  RUN(Reduce_scatter_block, Ireduce_scatter_block, inter, form, out, in, each, MPI_INT, MPI_SUM);
  CHECK(is_sum(in, each, 0, remote, mine * each));
  for (int i = 0; i < each; ++i) in[i] = -1;
  RUN(Reduce_scatter, Ireduce_scatter, inter, form, out, in, counts, MPI_INT, MPI_SUM);
  CHECK(is_sum(in, each, 0, remote, mine * each));
  free(out);
  free(in);
  free(counts);
}

static void barriers(MPI_Comm inter) {
  MPI_Request r;
  MPI_Barrier(inter);
  MPI_Ibarrier(inter, &r);
  finish(&r, NONBLOCKING);
  MPI_Barrier_init(inter, MPI_INFO_NULL, &r);
  finish(&r, PERSISTENT);
}

static void merged(MPI_Comm inter) {
  MPI_Comm whole;
  int r = -1, sum = 0;
  for (int low_is_high = 0; low_is_high < 2; ++low_is_high) {
    MPI_Intercomm_merge(inter, is_low == low_is_high, &whole);
    MPI_Comm_rank(whole, &r);
    CHECK_EQUAL(r, is_low == low_is_high ? remote + mine : mine);
    MPI_Allreduce(&rank_, &sum, 1, MPI_INT, MPI_SUM, whole);
    CHECK_EQUAL(sum, size_ * (size_ - 1) / 2);
    MPI_Comm_free(&whole);
  }
  MPI_Intercomm_merge(inter, 0, &whole); /* in either order */
  MPI_Comm_size(whole, &r);
  CHECK_EQUAL(r, size_);
  MPI_Comm_free(&whole);
}

/* Parts: the even ranks of both groups, and the odd ones. */
static void divided(MPI_Comm inter) {
  MPI_Comm part;
  MPI_Group group, evens;
  int flag = -1, n = -1, far = -1, range[1][3] = {{0, local - 1, 2}};
  MPI_Comm_split(inter, mine % 2, -mine, &part);
  const int odd = mine % 2, here = (local + 1 - odd) / 2, there = (remote + 1 - odd) / 2;
  CHECK_EQUAL(part == MPI_COMM_NULL, there == 0);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_test_inter(part, &flag);
    CHECK_EQUAL(flag, 1);
    MPI_Comm_size(part, &n);
    MPI_Comm_remote_size(part, &far);
    CHECK(n == here && far == there);
    MPI_Comm_rank(part, &n);
    CHECK_EQUAL(n, here - 1 - mine / 2);
    MPI_Allreduce(&mine, &n, 1, MPI_INT, MPI_MAX, part);
    CHECK_EQUAL(n, 2 * (there - 1) + odd);
    MPI_Comm_free(&part);
  }
  MPI_Comm_group(inter, &group);
  MPI_Group_range_incl(group, 1, range, &evens);
  MPI_Comm_create(inter, evens, &part);
  CHECK_EQUAL(part == MPI_COMM_NULL, odd);
  if (part != MPI_COMM_NULL) {
    MPI_Comm_size(part, &n);
    MPI_Comm_remote_size(part, &far);
    CHECK(n == (local + 1) / 2 && far == (remote + 1) / 2);
    MPI_Barrier(part);
    MPI_Comm_free(&part);
  }
  MPI_Group_free(&evens);
  MPI_Group_free(&group);
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 2, 700};
  begin(&argc, &argv);
  if (size_ > 1) {
    MPI_Comm inter = make();
    properties(inter);
    messages(inter);
    barriers(inter);
    for (int form = 0; form < FORMS; ++form)
      for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
        rooted(inter, form, 1, sizes[s]);
        rooted(inter, form, 0, sizes[s]);
        unrooted(inter, form, sizes[s]);
        scattered(inter, form, sizes[s]);
      }
    merged(inter);
    divided(inter);
    MPI_Comm_free(&inter);
  }
  return end();
}
