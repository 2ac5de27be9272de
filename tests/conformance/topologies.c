/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual topologies: grids, graphs and distributed graphs, and what one can ask of them. */
#include "check.h"

static void dims(void) {
  static const struct {
    int n, ndims, given[4], wanted[4];
  } all[] = {{6, 2, {0, 0}, {3, 2}},
             {7, 2, {0, 0}, {7, 1}},
             {6, 3, {0, 3, 0}, {2, 3, 1}},
             {24, 3, {0, 0, 0}, {4, 3, 2}},
             {16, 2, {0, 0}, {4, 4}},
             {12, 2, {2, 0}, {2, 6}},
             {36, 4, {0, 0, 0, 0}, {3, 3, 2, 2}},
             {1, 2, {0, 0}, {1, 1}},
             {5, 1, {0}, {5}}};
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    int got[4];
    memcpy(got, all[i].given, sizeof got);
    MPI_Dims_create(all[i].n, all[i].ndims, got);
    for (int d = 0; d < all[i].ndims; ++d) CHECK_EQUAL(got[d], all[i].wanted[d]);
  }
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  int odd[2] = {4, 0}, class = 0;
  MPI_Error_class(MPI_Dims_create(6, 2, odd), &class);
  CHECK_EQUAL(class, MPI_ERR_DIMS);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void grid(void) {
  int dims[3] = {0, 0, 0}, periods[3] = {1, 0, 1}, at[3], back, n = 0, here, from, to, mapped;
  int got_dims[3], got_periods[3], got_at[3];
  MPI_Comm comm, copy, line;
  MPI_Dims_create(size_, 3, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, 1, &comm);
  MPI_Comm_rank(comm, &here);
  MPI_Cartdim_get(comm, &n);
  CHECK_EQUAL(n, 3);
  MPI_Cart_get(comm, 3, got_dims, got_periods, got_at);
  MPI_Cart_coords(comm, here, 3, at);
  CHECK(memcmp(got_at, at, sizeof at) == 0 && memcmp(got_dims, dims, sizeof dims) == 0);
  for (int d = 0; d < 3; ++d) CHECK_EQUAL(got_periods[d] != 0, periods[d]);
  CHECK_EQUAL((at[0] * dims[1] + at[1]) * dims[2] + at[2], here);
  MPI_Cart_rank(comm, at, &back);
  CHECK_EQUAL(back, here);
  at[0] += dims[0]; /* around a periodic dimension */
  at[2] -= 2 * dims[2];
  MPI_Cart_rank(comm, at, &back);
  CHECK_EQUAL(back, here);
  MPI_Cart_shift(comm, 1, 1, &from, &to);
  CHECK_EQUAL(from, got_at[1] == 0 ? MPI_PROC_NULL : here - dims[2]);
  CHECK_EQUAL(to, got_at[1] == dims[1] - 1 ? MPI_PROC_NULL : here + dims[2]);
  MPI_Cart_shift(comm, 0, -1, &from, &to);
  CHECK_EQUAL(to, (got_at[0] + dims[0] - 1) % dims[0] * dims[1] * dims[2] + here % (dims[1] * dims[2]));
  MPI_Cart_shift(comm, 2, 0, &from, &to);
  CHECK(from == here && to == here);
  MPI_Comm_dup(comm, &copy); /* has the topology, too */
  MPI_Topo_test(copy, &n);
  CHECK_EQUAL(n, MPI_CART);
  MPI_Cartdim_get(copy, &n);
  CHECK_EQUAL(n, 3);
  MPI_Comm_free(&copy);
  const int only[3] = {0, 0, 1}, none[3] = {0, 0, 0};
  MPI_Cart_sub(comm, only, &line);
  MPI_Cart_get(line, 1, got_dims, got_periods, got_at);
  MPI_Comm_rank(line, &n);
  MPI_Cart_coords(comm, here, 3, at);
  CHECK(got_dims[0] == dims[2] && got_periods[0] != 0 && got_at[0] == at[2] && n == at[2]);
  MPI_Comm_free(&line);
  MPI_Cart_sub(comm, none, &line);
  MPI_Comm_size(line, &n);
  CHECK_EQUAL(n, 1);
  MPI_Cartdim_get(line, &n);
  CHECK_EQUAL(n, 0);
  MPI_Comm_free(&line);
  MPI_Cart_map(MPI_COMM_WORLD, 3, dims, periods, &mapped);
  CHECK(mapped >= 0 && mapped < size_);
  MPI_Comm_free(&comm);
}

/* A grid smaller than the communicator. */
static void smaller_grid(void) {
  int dims[1] = {size_ > 1 ? size_ - 1 : 1}, periods[1] = {0}, n = 0, inside = 0;
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm);
  if (comm != MPI_COMM_NULL) {
    inside = 1;
    MPI_Comm_size(comm, &n);
    CHECK_EQUAL(n, dims[0]);
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(&inside, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(n, dims[0]);
  MPI_Cart_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &comm);
  inside = comm != MPI_COMM_NULL;
  if (inside) {
    MPI_Cartdim_get(comm, &n);
    CHECK_EQUAL(n, 0);
    MPI_Comm_free(&comm);
  }
  MPI_Allreduce(&inside, &n, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(n, 1);
}

/* A binary tree, of which each knows its parent, then its children. */
static void graph(void) {
  int *index = malloc(sizeof(int) * (size_t)size_), *edges = malloc(sizeof(int) * 3 * (size_t)size_), n = 0, kind = 0;
  int *got_index = malloc(sizeof(int) * (size_t)size_), *got_edges = malloc(sizeof(int) * 3 * (size_t)size_);
  int nodes = 0, total = 0, here, few[3] = {-1, -1, -1}, mapped = -1;
  MPI_Comm comm;
  for (int r = 0; r < size_; ++r) {
    if (r > 0) edges[n++] = (r - 1) / 2;
    if (2 * r + 1 < size_) edges[n++] = 2 * r + 1;
    if (2 * r + 2 < size_) edges[n++] = 2 * r + 2;
    index[r] = n;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size_, index, edges, 0, &comm);
  MPI_Topo_test(comm, &kind);
  CHECK_EQUAL(kind, MPI_GRAPH);
  MPI_Graphdims_get(comm, &nodes, &total);
  CHECK(nodes == size_ && total == n);
  MPI_Graph_get(comm, size_, n, got_index, got_edges);
  CHECK(memcmp(got_index, index, sizeof(int) * (size_t)size_) == 0);
  CHECK(memcmp(got_edges, edges, sizeof(int) * (size_t)n) == 0);
  MPI_Comm_rank(comm, &here);
  for (int r = 0; r < size_; ++r) {
    const int first = r == 0 ? 0 : index[r - 1];
    MPI_Graph_neighbors_count(comm, r, &n);
    CHECK_EQUAL(n, index[r] - first);
    MPI_Graph_neighbors(comm, r, 3, few);
    for (int i = 0; i < n; ++i) CHECK_EQUAL(few[i], edges[first + i]);
  }
  MPI_Comm_free(&comm);
  MPI_Graph_map(MPI_COMM_WORLD, size_, index, edges, &mapped);
  CHECK(mapped >= 0 && mapped < size_);
  free(index);
  free(edges);
  free(got_index);
  free(got_edges);
}

static int contains(const int* at, const int* weights, int n, int rank, int weight) {
  for (int i = 0; i < n; ++i)
    if (at[i] == rank && (weights == NULL || weights[i] == weight)) return 1;
  return 0;
}

/* Each gives the edges of the next rank: to the one that is 1 and to the one that is 3 further. */
static void distributed_graph(void) {
  const int source = (rank_ + 1) % size_, degree = 2, targets[2] = {(source + 1) % size_, (source + 3) % size_};
  const int weights[2] = {10 + source, 30 + source};
  int in = 0, out = 0, weighted = -1, from[2], to[2], from_weights[2], to_weights[2], kind;
  MPI_Comm comm;
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, targets, weights, MPI_INFO_NULL, 0, &comm);
  MPI_Topo_test(comm, &kind);
  CHECK_EQUAL(kind, MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  CHECK(in == 2 && out == 2 && weighted != 0);
  MPI_Dist_graph_neighbors(comm, 2, from, from_weights, 2, to, to_weights);
  CHECK(contains(to, to_weights, 2, (rank_ + 1) % size_, 10 + rank_));
  CHECK(contains(to, to_weights, 2, (rank_ + 3) % size_, 30 + rank_));
  const int before = (rank_ + size_ - 1) % size_, far = (rank_ + 3 * size_ - 3) % size_;
  CHECK(contains(from, from_weights, 2, before, 10 + before));
  CHECK(contains(from, from_weights, 2, far, 30 + far));
  MPI_Comm_free(&comm);
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &source, &degree, targets, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  CHECK(in == 2 && out == 2 && weighted == 0);
  MPI_Dist_graph_neighbors(comm, 2, from, MPI_UNWEIGHTED, 2, to, MPI_UNWEIGHTED);
  CHECK(contains(to, NULL, 2, (rank_ + 3) % size_, 0));
  MPI_Comm_free(&comm);
  /* Nobody has an edge. */
  MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
  CHECK(in == 0 && out == 0 && weighted != 0);
  MPI_Comm_free(&comm);
}

static void adjacent_graph(void) {
  const int from[1] = {(rank_ + size_ - 1) % size_}, to[1] = {(rank_ + 1) % size_}, in_weight[1] = {rank_ + 5};
  const int out_weight[1] = {rank_ + 6};
  int in, out, weighted, got_from = -1, got_to = -1, got_in = -1, got_out = -1;
  MPI_Comm comm, copy;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, in_weight, 1, to, out_weight, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_dup(comm, &copy);
  MPI_Dist_graph_neighbors_count(copy, &in, &out, &weighted);
  CHECK(in == 1 && out == 1 && weighted != 0);
  MPI_Dist_graph_neighbors(copy, 1, &got_from, &got_in, 1, &got_to, &got_out);
  CHECK(got_from == from[0] && got_to == to[0] && got_in == rank_ + 5 && got_out == rank_ + 6);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Topo_test(MPI_COMM_WORLD, &in);
  CHECK_EQUAL(in, MPI_UNDEFINED);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  dims();
  grid();
  smaller_grid();
  graph();
  distributed_graph();
  adjacent_graph();
  return end();
}
