// SPDX-License-Identifier: Apache-2.0
// The activity that waits for arrivals at a node's domains while their workers are parked, if the network library
// notifies of arrivals (UCX): it moves the messages, which wakes their workers. It leaves a domain without parked
// workers to them.
// Who may call: arm() the holder of the domain's lock. Never switches tasks.
// Guarantees: an armed domain is served once after an event (message_domain::serve_event).
// Tests: tests/unit/net/message_transport_test.cpp, tests/unit/net/plugin_test.cpp.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "machine/event_set.hpp"
#include "machine/executor.hpp"

namespace shoal::net {

class message_domain;

class message_watch final : machine::activity {
public:
  /// All of them have events; they outlive the watch. Throws shoal::error.
  message_watch(const std::vector<std::unique_ptr<message_domain>>& domains, machine::executor& by);
  message_watch(const message_watch&) = delete;
  message_watch& operator=(const message_watch&) = delete;
  ~message_watch();

  void arm(unsigned domain) noexcept;

private:
  std::int64_t tick() noexcept override;
  std::span<const int> descriptors() noexcept override { return watched_; }

  const std::vector<std::unique_ptr<message_domain>>& domains_;
  machine::event_set events_;
  const std::array<int, 1> watched_{events_.descriptor()};
  std::unique_ptr<machine::activity_runner> runner_;
};

}  // namespace shoal::net
