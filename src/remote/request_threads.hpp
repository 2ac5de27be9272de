// SPDX-License-Identifier: Apache-2.0
// Activities of a node that only execute commands on its memory (GMT's helpers), so that the node answers while all its
// workers compute. They leave calls to the workers; later commands of the same node wait for the call.
// Who may call: the owner of the node's ports, which outlive this. Nothing here switches tasks.
// Guarantees: those of server.hpp; a request waits for an activity at most k_longest_sleep_ns; the price is one poll
// per that time while nothing arrives. Source: GMT (SYSTEMS 1). Tests: tests/cluster/progress_test.cpp.
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
