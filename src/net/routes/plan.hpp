// SPDX-License-Identifier: Apache-2.0
// Which way messages go between the nodes of a job, and what buffers they have, by the number of nodes and workers and
// the memory that buffers may take.
//   direct: each worker has buffers of its own for each node. The fastest, where they fit.
//   shared: one hop; small blocks of each worker, and buffers that the workers of a node fill together.
//   machine: two hops; the first stays on the machine, to the node with the receiver's number there.
//   grid, cube: two and three hops.
// Who may call: anyone; all nodes get the same from the same. Throws shoal::error where the memory is too little.
// Test: tests/unit/net/plan_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/channel.hpp"
#include "net/message_transport.hpp"
#include "net/ring_world.hpp"
#include "net/routes/route.hpp"

namespace shoal::net {

struct route_wish {
  std::string route = "auto";
  std::uint64_t memory_bytes = 0;  // per node; 0: k_most_default_bytes
  std::size_t block_bytes = 2048;  // at most
  bool must_fit = true;            // else memory_bytes is a guess, and the least that is needed is taken

  static constexpr std::uint64_t k_most_default_bytes = std::uint64_t{1} << 30;
};

struct job_shape {
  std::uint32_t nodes = 1;
  unsigned workers = 1;
  std::size_t buffer_bytes = std::size_t{16} << 10;
  std::size_t buffers = 8;
  std::vector<std::uint32_t> machines;  // how many consecutive nodes each has; empty: not known
};

struct route_plan {
  std::string name = "direct";
  std::shared_ptr<const route_map> map;  // null: direct
  std::size_t block_bytes = 0;
  std::size_t most_blocks = 0;  // that have arrived, of each worker and class
  std::uint64_t bytes = 0;      // that buffers take at most, if all nodes are used

  bool is_routed() const noexcept { return map != nullptr; }
};

route_plan plan_routes(const route_wish& wish, const job_shape& shape);

/// `inner`, which announces replies, under the plan's routes. The plan is routed.
std::unique_ptr<transport> route_over(std::unique_ptr<transport> inner, const route_plan& plan, std::uint32_t node,
                                      const job_shape& shape, machine::executor& executor);

}  // namespace shoal::net
