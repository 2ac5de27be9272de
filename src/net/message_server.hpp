// SPDX-License-Identifier: Apache-2.0
// The activity that moves the messages of a node instead of the workers (progress_role::server): it sends posted
// messages and delivers arrivals. Without work it sleeps until it is woken; if the network does not notify of arrivals,
// it polls again after a short time. Who may call: ring() any thread; the rest the constructing thread.
// Tests: tests/unit/net/message_transport_test.cpp.
#pragma once

#include <memory>
#include <vector>

#include "machine/executor.hpp"

namespace shoal::net {

class message_domain;

class message_server final : machine::activity {
public:
  explicit message_server(machine::executor& by);
  message_server(const message_server&) = delete;
  message_server& operator=(const message_server&) = delete;
  ~message_server();

  /// Once; the domains outlive the server.
  void start(const std::vector<std::unique_ptr<message_domain>>& domains);
  /// No tick runs when it returns, and none will.
  void stop() noexcept { runner_->stop(); }
  /// Something was posted, or has happened at a domain. Also after stop().
  void ring() noexcept { runner_->notify(); }

private:
  std::int64_t tick() noexcept override;
  bool move() noexcept;

  std::vector<message_domain*> domains_;
  int idle_ticks_ = 0;
  std::int64_t sleep_ns_;
  const std::unique_ptr<machine::activity_runner> runner_;
};

}  // namespace shoal::net
