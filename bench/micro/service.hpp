// SPDX-License-Identifier: Apache-2.0
// How long requests to a busy worker wait: a get and a call from another node, a task that is woken, a submitted task;
// behind each kind of work. Test: tests/cluster/service_bench_test.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "bench/subcommand.hpp"

namespace shoal::bench {

/// Nearest rank of sorted values; how many there were.
struct wait_times {
  double p50_us = 0;
  double p99_us = 0;
  std::uint64_t count = 0;
};

struct service_result {
  wait_times get;
  wait_times call;
  wait_times woken;
  wait_times submitted;
  std::uint64_t bodies = 0;  // that the work ran
  bool correct = false;      // each body ran once, each get gave the right value, each call its result
};

/// group, invoke, future, loop, flow, graph, yield: how the bodies are run.
std::span<const std::string_view> service_kinds();

/// Node 1 runs bodies of `body_ns` on one worker for `seconds`; node 0 and a thread of node 1 send requests.
service_result measure_service(std::string_view kind, std::int64_t body_ns, double seconds);

subcommand_body declare_service(CLI::App& app);

}  // namespace shoal::bench
