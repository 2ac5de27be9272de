// SPDX-License-Identifier: Apache-2.0
// Virtual topologies: grids, graphs, and graphs of which each rank knows its own edges.
// Who may call: anybody. Source: MPI 5.0, chapter 8. Test: tests/unit/rank/topology_test.cpp.
#pragma once

#include <span>
#include <vector>

#include "mpi-abi/mpi.h"

namespace shoal::rank {

struct topology {
  int kind = MPI_UNDEFINED;  // MPI_CART, MPI_GRAPH, MPI_DIST_GRAPH
  // A grid. Dimension 0 varies slowest.
  std::vector<int> dims, periods;
  // A graph: the neighbours of rank r are edges[index[r - 1]] ... edges[index[r] - 1].
  std::vector<int> index, edges;
  // A rank's part of a distributed graph.
  std::vector<int> sources, destinations, source_weights, destination_weights;
  bool weighted = false;

  std::vector<int> coordinates(int rank) const;
  /// Coordinates of periodic dimensions are wrapped; MPI_PROC_NULL where others are outside.
  int rank_at(std::span<const int> coordinates) const;
  int size() const noexcept;
  std::span<const int> neighbours(int rank) const;
  /// Who sends to `rank` in a neighbourhood collective, and to whom it sends, in the order of the standard.
  std::vector<int> sends_from(int rank) const;
  std::vector<int> receives_at(int rank) const;
};

/// Fills the zeros of `dims` so that the product is `ranks` and the numbers are as close as can be. Throws MPI_ERR_DIMS.
void balance(int ranks, std::span<int> dims);

}  // namespace shoal::rank
