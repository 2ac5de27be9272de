/* SPDX-License-Identifier: Apache-2.0 */
/* Neighbourhood collectives in all forms on grids, graphs and distributed graphs. */
#include "forms.h"

/* The neighbours of a communicator, in the order in which blocks are sent and received. */
struct hood {
  MPI_Comm comm;
  int me, sources, destinations;
  int from[64], to[64];
  int places_from[64]; /* the place among its destinations that source i has for this rank */
};

#include "narrow.h"

#include "neighbours.inc"

#include "large.h"

#include "neighbours.inc"

static void all_of(struct hood* h) {
  static const int sizes[] = {0, 1, 1500};
  for (int form = 0; form < FORMS; ++form)
    for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
      all(h, form, sizes[s]);
      all_large(h, form, sizes[s]);
    }
  MPI_Comm_free(&h->comm);
}

static void grid(int ndims, int periodic) {
  int dims[3] = {0, 0, 0}, periods[3] = {periodic, periodic, periodic};
  struct hood h;
  MPI_Dims_create(size_, ndims, dims);
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &h.comm);
  MPI_Comm_rank(h.comm, &h.me);
  h.sources = h.destinations = 2 * ndims;
  for (int d = 0; d < ndims; ++d) {
    MPI_Cart_shift(h.comm, d, 1, &h.from[2 * d], &h.from[2 * d + 1]);
    h.places_from[2 * d] = 2 * d + 1;
    h.places_from[2 * d + 1] = 2 * d;
  }
  memcpy(h.to, h.from, sizeof h.to);
  all_of(&h);
}

/* Everyone is the neighbour of rank 0, and of itself. */
static void star(void) {
  int *index = malloc(sizeof(int) * (size_t)size_), *edges = malloc(sizeof(int) * 3 * (size_t)size_), n = 0;
  struct hood h;
  if (size_ < 60) {
    for (int r = 0; r < size_; ++r) {
      if (r == 0)
        for (int i = 1; i < size_; ++i) edges[n++] = i;
      else
        edges[n++] = 0;
      edges[n++] = r;
      index[r] = n;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size_, index, edges, 0, &h.comm);
    h.me = rank_;
    h.sources = h.destinations = rank_ == 0 ? size_ : 2;
    for (int i = 0; i < h.sources; ++i) {
      h.from[i] = h.to[i] = edges[(rank_ == 0 ? 0 : index[rank_ - 1]) + i];
      h.places_from[i] = h.from[i] == rank_ ? h.sources - 1 : rank_ == 0 ? 0 : rank_ - 1;
    }
    all_of(&h);
  }
  free(index);
  free(edges);
}

/* Rank r sends to those that are 1 and 2 further, and receives from those that are 1 and 2 before. */
static void ring(void) {
  struct hood h;
  h.me = rank_;
  h.sources = h.destinations = 2;
  for (int i = 0; i < 2; ++i) {
    h.to[i] = (rank_ + 1 + i) % size_;
    h.from[i] = (rank_ + 2 * size_ - 1 - i) % size_;
    h.places_from[i] = i;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, h.from, MPI_UNWEIGHTED, 2, h.to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &h.comm);
  all_of(&h);
}

/* The even ranks send to the next, the odd ones to none. */
static void pairs(void) {
  struct hood h;
  h.me = rank_;
  h.sources = rank_ % 2;
  h.destinations = rank_ % 2 == 0 && rank_ + 1 < size_;
  h.to[0] = rank_ + 1;
  h.from[0] = rank_ - 1;
  h.places_from[0] = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, h.sources, h.from, MPI_UNWEIGHTED, h.destinations, h.to,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &h.comm);
  all_of(&h);
}

/* The type is freed before the first start. */
static void freed_type(void) {
  const int to = (rank_ + 1) % size_, from = (rank_ + size_ - 1) % size_;
  int out[4] = {rank_, -1, rank_ + 1, -1}, in[4] = {-1, -1, -1, -1};
  MPI_Datatype every_second, other;
  MPI_Comm ring;
  MPI_Request r;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Neighbor_alltoall_init(out, 1, every_second, in, 1, every_second, ring, MPI_INFO_NULL, &r);
  MPI_Type_free(&every_second);
  MPI_Type_vector(5, 3, 7, MPI_DOUBLE, &other); /* perhaps where the old one was */
  for (int round = 0; round < 3; ++round) {
    out[0] = rank_ + round;
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    CHECK(in[0] == from + round && in[1] == -1 && in[2] == from + 1 && in[3] == -1);
  }
  MPI_Request_free(&r);
  MPI_Type_free(&other);
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  grid(1, 0);
  grid(1, 1);
  grid(2, 1);
  grid(3, 0);
  star();
  ring();
  pairs();
  freed_type();
  return end();
}
