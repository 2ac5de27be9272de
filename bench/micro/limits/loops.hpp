// SPDX-License-Identifier: Apache-2.0
// The bare loops of `shoal bench limits`: the limits of memory and two cores, without the runtime. Each function runs
// one loop for some seconds and returns a rate and a check. Two pinned threads represent two nodes of one worker each.
// Who may call: one thread outside the runtime. Guarantees: every loop verifies its result by sums modulo 2^64, and
// every wait yields. Files: random_access.cpp, batched.cpp, blocking.cpp, basics.cpp. Test:
// tests/unit/bench/limits_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bench/micro/limits/table.hpp"
#include "bench/micro/limits/team.hpp"

namespace shoal::bench::limits {

struct loop_options {
  double seconds = 0.25;
  std::size_t buffer_bytes = 16384;
  std::size_t buffers = 4;    // in flight in each direction
  std::size_t prefetch = 24;  // how many commands ahead the receiver prefetches
  std::size_t window = 32;    // deferred operations of window_update
  std::size_t tasks = 16384;  // per node, for the blocking loop
  std::uint64_t seed = 1;
  machine_seats where;
};

struct measured {
  double value = 0;      // Mops/s, GB/s or ns
  bool correct = false;  // the sums are equal
};

enum class access { plain_update, atomic_update, read };

measured random_access(access kind, word_range table, const seats& where, const loop_options& options);
measured window_update(word_range table, const seats& where, const loop_options& options);

/// Each node's part of the table; all operations go to the other node's part.
struct node_tables {
  word_range of_node[2];
};

measured batched_update(node_tables tables, const loop_options& options);
measured batched_read(node_tables tables, const loop_options& options);
measured batched_blocking(node_tables tables, const loop_options& options);

measured copy_memory(word_range to, word_range from, const seats& where, const loop_options& options);
measured pingpong(const loop_options& options);
measured context_switch(const loop_options& options);

}  // namespace shoal::bench::limits
