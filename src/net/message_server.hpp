// SPDX-License-Identifier: Apache-2.0
// The one thread that moves the messages of a node, where workers do not (progress_role::server): sends what they
// have posted, hands over what arrives, and sleeps when there is nothing: until somebody rings, or, where the network
// does not tell what comes, at most so long that it is noticed. Who may call: ring() any thread. Shown by
// tests/unit/net/message_transport_test.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "lockfree/doorbell.hpp"

namespace shoal::net {

class message_domain;

class message_server {
public:
  message_server() = default;
  ~message_server();
  message_server(const message_server&) = delete;
  message_server& operator=(const message_server&) = delete;

  /// Once; the domains outlive the server.
  void start(const std::vector<std::unique_ptr<message_domain>>& domains);
  /// Its thread ends; no more of it.
  void stop() noexcept;
  /// Something was posted, or has happened at a domain.
  void ring() noexcept;

private:
  void serve() noexcept;

  std::vector<message_domain*> domains_;
  lockfree::doorbell<> bell_;
  std::atomic<bool> stopping_{false};  // partner: the destructor
  std::thread thread_;
};

}  // namespace shoal::net
