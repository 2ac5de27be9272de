// SPDX-License-Identifier: Apache-2.0
// The job of a program that calls MPI_Init itself, without a host: its process is a node with one rank. The runtime has
// threads of its own, and the program's threads give it calls.
// Who may call: the thread that calls MPI_Init.
#pragma once

#include <memory>

#include "rank/rank.hpp"

namespace shoal::rank {

class unhosted {
public:
  unhosted() = default;
  unhosted(const unhosted&) = delete;
  unhosted& operator=(const unhosted&) = delete;
  virtual ~unhosted() = default;

  virtual rank_state& rank() noexcept = 0;
  /// The program calls MPI no more. Waits for the other nodes.
  virtual void end() = 0;
};

/// Starts the job, and waits until the other nodes are there. Throws shoal::error. From src/runtime, which sets it when
/// the library is loaded.
using unhosted_maker = std::unique_ptr<unhosted> (*)();
extern unhosted_maker make_unhosted;

}  // namespace shoal::rank
