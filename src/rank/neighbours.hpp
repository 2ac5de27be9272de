// SPDX-License-Identifier: Apache-2.0
// Neighbourhood collectives: a message to each neighbour, and one from each, in the order of the topology.
// Who may call: tasks on the rank's worker. begin_neighbours() may switch tasks where messages leave the process.
// Source: MPI 5.0, 8.6 and 8.7.
#pragma once

#include "rank/request.hpp"

namespace shoal::rank {

/// Begins what r.call says (all_gather: the same block to all; all_to_all: a block each); `r` is a composite request.
void begin_neighbours(request& r);

}  // namespace shoal::rank
