// SPDX-License-Identifier: Apache-2.0
// Threads of a node that do nothing but execute commands on its memory as they arrive (GMT's helpers), so that a node
// answers while all its workers compute. Calls are not theirs: what a call brings belongs to a worker, and what came
// after it from that node waits with it.
// Who may call: whoever made the node's ports, which outlive the threads. Nothing here switches tasks.
// Guarantees: those of server.hpp; a request waits for a thread at most k_longest_sleep_ns, at the price of as many
// looks while nothing comes.
// Source: GMT (SYSTEMS 1). Shown by tests/cluster/progress_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "net/channel.hpp"
#include "remote/worker_port.hpp"

namespace shoal::remote {

class request_threads {
public:
  static constexpr std::int64_t k_longest_sleep_ns = 500'000;

  request_threads(net::transport& transport, node_ports& ports, unsigned workers, unsigned threads);
  ~request_threads();
  request_threads(const request_threads&) = delete;
  request_threads& operator=(const request_threads&) = delete;

private:
  void stop() noexcept;
  void serve(unsigned number) noexcept;
  bool serve_all(unsigned first) noexcept;

  net::transport& transport_;
  node_ports& ports_;
  const unsigned workers_;
  std::atomic<std::uint32_t> stopping_{0};  // partner: the destructor; also slept on
  std::vector<std::thread> threads_;
};

}  // namespace shoal::remote
