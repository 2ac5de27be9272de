// SPDX-License-Identifier: Apache-2.0
// Descriptors that one thread waits for, each for one event at a time: epoll(7). Who may call: wait() one thread; arm()
// and stop() any; add() whoever made it, before that. Never switches tasks; wait() blocks the thread.
// Guarantees: a descriptor that is readable when it is armed, or becomes so later, is given by wait() once per arming.
// Shown by tests/unit/machine/event_set_test.cpp.
#pragma once

#include <cstdint>
#include <optional>

#include "machine/descriptor.hpp"

namespace shoal::machine {

class event_set {
public:
  /// Throws shoal::error.
  event_set();

  /// Not armed yet; `number` is what wait() gives for it. Throws shoal::error.
  void add(int descriptor, std::uint32_t number);
  void arm(int descriptor, std::uint32_t number) noexcept;
  /// Nothing: stop() was called.
  std::optional<std::uint32_t> wait() noexcept;
  void stop() noexcept;

private:
  descriptor set_;
  wake_descriptor stop_;
};

}  // namespace shoal::machine
