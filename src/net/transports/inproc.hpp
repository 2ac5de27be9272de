// SPDX-License-Identifier: Apache-2.0
// The memory for nodes that live in one process: how tests run a cluster.
// Who may call: the thread that makes the job. Shown by tests/cluster/.
#pragma once

#include "machine/reserved_range.hpp"
#include "net/ring_world.hpp"

namespace shoal::net {

class inproc_world {
public:
  explicit inproc_world(const ring_shape& shape);
  std::unique_ptr<transport> connect(unsigned node) const;

private:
  ring_shape shape_;
  machine::reserved_range memory_;
};

}  // namespace shoal::net
