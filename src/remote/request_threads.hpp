// SPDX-License-Identifier: Apache-2.0
// Activities of a node that do nothing but execute commands on its memory as they arrive (GMT's helpers), so that a node
// answers while all its workers compute. Calls are not theirs: what a call brings belongs to a worker, and what came
// after it from that node waits with it.
// Who may call: the owner of the node's ports, which outlive this. Nothing here switches tasks.
// Guarantees: those of server.hpp; a request waits for an activity at most k_longest_sleep_ns, at the price of as many
// looks while nothing comes.
// Source: GMT (SYSTEMS 1). Shown by tests/cluster/progress_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "machine/executor.hpp"
#include "net/channel.hpp"
#include "remote/worker_port.hpp"

namespace shoal::remote {

class request_threads {
public:
  static constexpr std::int64_t k_longest_sleep_ns = 500'000;

  request_threads(net::transport& transport, node_ports& ports, unsigned workers, unsigned threads,
                  machine::executor& by);
  request_threads(const request_threads&) = delete;
  request_threads& operator=(const request_threads&) = delete;
  ~request_threads();

private:
  class helper;

  std::vector<std::unique_ptr<helper>> helpers_;
};

}  // namespace shoal::remote
