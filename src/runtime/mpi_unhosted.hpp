// SPDX-License-Identifier: Apache-2.0
// A program that calls MPI_Init itself, without a host: its process is a node of a job with one rank. The runtime has
// threads of its own, and the program's threads give it calls.
// Who may call: the thread that calls MPI_Init. The constructor blocks it until the other nodes are there. Throws
// shoal::error.
#pragma once

#include <memory>

#include "rank/rank.hpp"

namespace shoal::runtime {

class unhosted_rank {
public:
  unhosted_rank();
  unhosted_rank(const unhosted_rank&) = delete;
  unhosted_rank& operator=(const unhosted_rank&) = delete;
  ~unhosted_rank();

  rank::rank_state& rank() noexcept;
  /// The program calls MPI no more. Waits for the other nodes.
  void end();

private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace shoal::runtime
