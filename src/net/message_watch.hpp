// SPDX-License-Identifier: Apache-2.0
// A thread that waits for what arrives at a node's domains while their workers sleep, where the network library can
// tell (UCX): it moves the messages, and so rings whoever they are for. A domain none of whose workers sleeps is left
// to them.
// Who may call: arm() whoever holds the domain's lock. Never switches tasks.
// Guarantees: an armed domain in which something happens is served once (message_domain::serve_event).
// Shown by tests/unit/net/message_transport_test.cpp, tests/unit/net/plugin_test.cpp.
#pragma once

#include <memory>
#include <thread>
#include <vector>

#include "machine/event_set.hpp"

namespace shoal::net {

class message_domain;

class message_watch {
public:
  /// All of them have events; they outlive the watch. Throws shoal::error.
  explicit message_watch(const std::vector<std::unique_ptr<message_domain>>& domains);
  ~message_watch();
  message_watch(const message_watch&) = delete;
  message_watch& operator=(const message_watch&) = delete;

  void arm(unsigned domain) noexcept;

private:
  void watch() noexcept;

  const std::vector<std::unique_ptr<message_domain>>& domains_;
  machine::event_set events_;
  std::thread thread_;
};

}  // namespace shoal::net
