// SPDX-License-Identifier: Apache-2.0
// Virtual topologies (MPI 5.0, chapter 8). Ranks are not reordered: those of a process are neighbours already.
#include <algorithm>
#include <memory>
#include <numeric>

#include "rank/abi/arguments.hpp"
#include "rank/abi/making.hpp"

using namespace shoal::rank;       // NOLINT: the functions of a C interface
using namespace shoal::rank::abi;  // NOLINT

namespace {

const topology& topology_of(caller& c, communicator& in, int kind) {
  const topology* const t = in.member(c.me).neighbours.get();
  if (t == nullptr || t->kind != kind)
    throw mpi_error(MPI_ERR_TOPOLOGY, kind == MPI_CART    ? "the communicator has no Cartesian topology"
                                      : kind == MPI_GRAPH ? "the communicator has no graph topology"
                                                          : "the communicator has no distributed graph topology");
  return *t;
}

std::vector<int> copied(const int* at, int n, const char* what) {
  if (n < 0) throw mpi_error(MPI_ERR_ARG, fmt::format("the number of {} is {}, below 0", what, n));
  if (n > 0) output(at);
  return {at, at + n};
}

void give(std::span<const int> values, int* to, int most) {
  for (std::size_t i = 0; i < values.size() && static_cast<int>(i) < most; ++i) output(to + i) = values[i];
}

std::vector<int> first_ranks(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

std::shared_ptr<topology> grid(const communicator& in, int ndims, const int* dims, const int* periods) {
  if (ndims < 0) throw mpi_error(MPI_ERR_DIMS, fmt::format("there are {} dimensions, fewer than 0", ndims));
  auto t = std::make_shared<topology>();
  t->kind = MPI_CART;
  t->dims = copied(dims, ndims, "dimensions");
  t->periods = copied(periods, ndims, "dimensions");
  std::int64_t all = 1;
  for (const int d : t->dims) {
    if (d < 1) throw mpi_error(MPI_ERR_DIMS, fmt::format("a dimension is {}, below 1", d));
    all *= d;
    if (all > in.size())
      throw mpi_error(MPI_ERR_DIMS,
                      fmt::format("the grid has {} places or more, and the communicator {} ranks", all, in.size()));
  }
  return t;
}

std::shared_ptr<topology> graph(const communicator& in, int nnodes, const int* index, const int* edges) {
  auto t = std::make_shared<topology>();
  t->kind = MPI_GRAPH;
  if (nnodes < 0 || nnodes > in.size())
    throw mpi_error(MPI_ERR_ARG,
                    fmt::format("the graph has {} nodes, and the communicator {} ranks", nnodes, in.size()));
  t->index = copied(index, nnodes, "nodes");
  for (int i = 0, before = 0; i < nnodes; before = t->index[static_cast<std::size_t>(i++)])
    if (const int at = t->index[static_cast<std::size_t>(i)]; at < before)
      throw mpi_error(MPI_ERR_ARG, fmt::format("node {} has {} edges: numbers of edges up to each node are {} and {}",
                                               i, std::int64_t{at} - before, before, at));
  t->edges = copied(edges, nnodes == 0 ? 0 : t->index.back(), "edges");
  for (const int e : t->edges)
    if (e < 0 || e >= nnodes)
      throw mpi_error(MPI_ERR_ARG, fmt::format("an edge leads to {}, which is not in 0 to {}", e, nnodes - 1));
  return t;
}

void check_rank(int rank, int n) {
  if (rank < 0 || rank >= n) throw mpi_error(MPI_ERR_RANK, fmt::format("rank {} is not in 0 to {}", rank, n - 1));
}

bool has_weights(const int* weights) noexcept { return weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY; }

std::vector<int> weights_of(const int* weights, int n) {
  return has_weights(weights) ? copied(weights, n, "weights") : std::vector<int>();
}

// Edges as all ranks give them: each rank keeps those that begin or end at it, in the order of givers.
std::shared_ptr<topology> collected(caller& c, communicator& in, int n, const int* sources, const int* degrees,
                                    const int* destinations, const int* weights) {
  std::vector<std::int64_t> mine;
  for (int i = 0, k = 0; i < n; ++i)
    for (int j = 0; j < degrees[i]; ++j, ++k) {
      check_rank(sources[i], in.size());
      check_rank(destinations[k], in.size());
      mine.insert(mine.end(), {sources[i], destinations[k], has_weights(weights) ? weights[k] : 1});
    }
  // Of different lengths: the longest first.
  const std::int64_t size[] = {static_cast<std::int64_t>(mine.size())};
  const agreed_values agreed = all_gather(c, in, size);
  const std::vector<std::int64_t>& sizes = *agreed;
  const auto longest = static_cast<std::size_t>(std::ranges::max(sizes));
  mine.resize(longest);
  const agreed_values all = longest == 0 ? nullptr : all_gather(c, in, mine);
  auto t = std::make_shared<topology>();
  t->kind = MPI_DIST_GRAPH;
  t->weighted = weights != MPI_UNWEIGHTED;
  const int me = in.rank_of(c.me);
  for (std::size_t r = 0; r < sizes.size(); ++r)
    for (std::size_t i = 0; i < static_cast<std::size_t>(sizes[r]); i += 3) {
      const std::int64_t* const e = all->data() + r * longest + i;
      if (e[0] == me) {
        t->destinations.push_back(static_cast<int>(e[1]));
        t->destination_weights.push_back(static_cast<int>(e[2]));
      }
      if (e[1] == me) {
        t->sources.push_back(static_cast<int>(e[0]));
        t->source_weights.push_back(static_cast<int>(e[2]));
      }
    }
  return t;
}

void check_intra(const communicator& in) {
  if (in.is_inter()) throw mpi_error(MPI_ERR_COMM, "an intercommunicator has no topology");
}

}  // namespace

extern "C" {

int PMPI_Topo_test(MPI_Comm comm, int* status) {
  return enter(comm, [&](caller& c, communicator& in) {
    const auto& t = in.member(c.me).neighbours;
    output(status) = t == nullptr ? MPI_UNDEFINED : t->kind;
  });
}
MPI_ABI_ALIAS(Topo_test)

int PMPI_Dims_create(int nnodes, int ndims, int dims[]) {
  return enter([&](caller&) {
    if (ndims < 0) throw mpi_error(MPI_ERR_DIMS, "the number of dimensions is below 0");
    balance(nnodes, {dims, static_cast<std::size_t>(ndims)});
  });
}
MPI_ABI_ALIAS(Dims_create)

int PMPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int, MPI_Comm* result) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_intra(in);
    auto t = grid(in, ndims, dims, periods);
    MPI_Comm& made = output(result);
    made = create_with(c, in, first_ranks(t->size()), t);
  });
}
MPI_ABI_ALIAS(Cart_create)

int PMPI_Cart_map(MPI_Comm comm, int ndims, const int dims[], const int periods[], int* newrank) {
  return enter(comm, [&](caller& c, communicator& in) {
    const int rank = in.rank_of(c.me);
    output(newrank) = rank < grid(in, ndims, dims, periods)->size() ? rank : MPI_UNDEFINED;
  });
}
MPI_ABI_ALIAS(Cart_map)

int PMPI_Cartdim_get(MPI_Comm comm, int* ndims) {
  return enter(comm, [&](caller& c, communicator& in) {
    output(ndims) = static_cast<int>(topology_of(c, in, MPI_CART).dims.size());
  });
}
MPI_ABI_ALIAS(Cartdim_get)

int PMPI_Cart_get(MPI_Comm comm, int maxdims, int dims[], int periods[], int coords[]) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_CART);
    give(t.dims, dims, maxdims);
    give(t.periods, periods, maxdims);
    give(t.coordinates(in.rank_of(c.me)), coords, maxdims);
  });
}
MPI_ABI_ALIAS(Cart_get)

int PMPI_Cart_rank(MPI_Comm comm, const int coords[], int* rank) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_CART);
    const int at = t.rank_at({coords, t.dims.size()});
    if (at == MPI_PROC_NULL)
      throw mpi_error(MPI_ERR_ARG, "a coordinate is outside of a dimension that is not periodic");
    output(rank) = at;
  });
}
MPI_ABI_ALIAS(Cart_rank)

int PMPI_Cart_coords(MPI_Comm comm, int rank, int maxdims, int coords[]) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_CART);
    check_rank(rank, in.size());
    give(t.coordinates(rank), coords, maxdims);
  });
}
MPI_ABI_ALIAS(Cart_coords)

int PMPI_Cart_shift(MPI_Comm comm, int direction, int disp, int* rank_source, int* rank_dest) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_CART);
    if (direction < 0 || direction >= static_cast<int>(t.dims.size()))
      throw mpi_error(MPI_ERR_ARG, fmt::format("there is no dimension {}", direction));
    const std::vector<int> at = t.coordinates(in.rank_of(c.me));
    const auto moved = [&](int by) {
      std::vector<int> to = at;
      to[static_cast<std::size_t>(direction)] += by;
      return t.rank_at(to);
    };
    output(rank_source) = moved(-disp);
    output(rank_dest) = moved(disp);
  });
}
MPI_ABI_ALIAS(Cart_shift)

int PMPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_CART);
    const std::vector<int> at = t.coordinates(in.rank_of(c.me));
    auto rest = std::make_shared<topology>();
    rest->kind = MPI_CART;
    int color = 0, key = 0;
    for (std::size_t d = 0; d < t.dims.size(); ++d) {
      if (output(remain_dims + d) != 0) {
        rest->dims.push_back(t.dims[d]);
        rest->periods.push_back(t.periods[d]);
        key = key * t.dims[d] + at[d];
      } else {
        color = color * t.dims[d] + at[d];
      }
    }
    MPI_Comm& made = output(newcomm);
    made = split(c, in, color, key);
    communicator_of(c.me, made).member(c.me).neighbours = std::move(rest);
  });
}
MPI_ABI_ALIAS(Cart_sub)

int PMPI_Graph_create(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int, MPI_Comm* result) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_intra(in);
    auto t = graph(in, nnodes, indx, edges);
    MPI_Comm& made = output(result);
    made = create_with(c, in, first_ranks(nnodes), t);
  });
}
MPI_ABI_ALIAS(Graph_create)

int PMPI_Graph_map(MPI_Comm comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  return enter(comm, [&](caller& c, communicator& in) {
    const int rank = in.rank_of(c.me);
    graph(in, nnodes, indx, edges);
    output(newrank) = rank < nnodes ? rank : MPI_UNDEFINED;
  });
}
MPI_ABI_ALIAS(Graph_map)

int PMPI_Graphdims_get(MPI_Comm comm, int* nnodes, int* nedges) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_GRAPH);
    output(nnodes) = static_cast<int>(t.index.size());
    output(nedges) = static_cast<int>(t.edges.size());
  });
}
MPI_ABI_ALIAS(Graphdims_get)

int PMPI_Graph_get(MPI_Comm comm, int maxindex, int maxedges, int indx[], int edges[]) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_GRAPH);
    give(t.index, indx, maxindex);
    give(t.edges, edges, maxedges);
  });
}
MPI_ABI_ALIAS(Graph_get)

int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* nneighbors) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_GRAPH);
    check_rank(rank, in.size());
    output(nneighbors) = static_cast<int>(t.neighbours(rank).size());
  });
}
MPI_ABI_ALIAS(Graph_neighbors_count)

int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int maxneighbors, int neighbors[]) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_GRAPH);
    check_rank(rank, in.size());
    give(t.neighbours(rank), neighbors, maxneighbors);
  });
}
MPI_ABI_ALIAS(Graph_neighbors)

int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int* sourceweights,
                                    int outdegree, const int destinations[], const int* destweights, MPI_Info, int,
                                    MPI_Comm* result) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_intra(in);
    auto t = std::make_shared<topology>();
    t->kind = MPI_DIST_GRAPH;
    t->sources = copied(sources, indegree, "sources");
    t->destinations = copied(destinations, outdegree, "destinations");
    for (const auto* ranks : {&t->sources, &t->destinations})
      for (const int r : *ranks) check_rank(r, in.size());
    t->weighted = sourceweights != MPI_UNWEIGHTED || destweights != MPI_UNWEIGHTED;
    t->source_weights = weights_of(sourceweights, indegree);
    t->destination_weights = weights_of(destweights, outdegree);
    MPI_Comm& made = output(result);
    made = create_with(c, in, first_ranks(in.size()), t);
  });
}
MPI_ABI_ALIAS(Dist_graph_create_adjacent)

int PMPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                           const int* weights, MPI_Info, int, MPI_Comm* result) {
  return enter(comm, [&](caller& c, communicator& in) {
    check_intra(in);
    auto t = collected(c, in, n, sources, degrees, destinations, weights);
    MPI_Comm& made = output(result);
    made = create_with(c, in, first_ranks(in.size()), t);
  });
}
MPI_ABI_ALIAS(Dist_graph_create)

int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* indegree, int* outdegree, int* weighted) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_DIST_GRAPH);
    output(indegree) = static_cast<int>(t.sources.size());
    output(outdegree) = static_cast<int>(t.destinations.size());
    output(weighted) = t.weighted ? 1 : 0;
  });
}
MPI_ABI_ALIAS(Dist_graph_neighbors_count)

int PMPI_Dist_graph_neighbors(MPI_Comm comm, int maxindegree, int sources[], int* sourceweights, int maxoutdegree,
                              int destinations[], int* destweights) {
  return enter(comm, [&](caller& c, communicator& in) {
    const topology& t = topology_of(c, in, MPI_DIST_GRAPH);
    give(t.sources, sources, maxindegree);
    give(t.destinations, destinations, maxoutdegree);
    if (has_weights(sourceweights)) give(t.source_weights, sourceweights, maxindegree);
    if (has_weights(destweights)) give(t.destination_weights, destweights, maxoutdegree);
  });
}
MPI_ABI_ALIAS(Dist_graph_neighbors)
}
