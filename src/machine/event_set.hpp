// SPDX-License-Identifier: Apache-2.0
// Descriptors that one thread watches, each for one event at a time: epoll(7). Who may call: take() one thread; arm()
// any; add() the thread that made it, before that. Never switches tasks, never blocks.
// Guarantees: a descriptor that is readable when it is armed, or becomes so later, is given by take() once per arming;
// until then descriptor() is readable. Shown by tests/unit/machine/event_set_test.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "machine/descriptor.hpp"

namespace shoal::machine {

class event_set {
public:
  /// Throws shoal::error.
  event_set();

  /// The descriptor is not armed yet. take() reports it as `number`. Throws shoal::error.
  void add(int descriptor, std::uint32_t number);
  void arm(int descriptor, std::uint32_t number) noexcept;
  /// Writes the numbers of ready descriptors, as many as fit.
  std::span<const std::uint32_t> take(std::span<std::uint32_t> room) noexcept;
  /// Readable while take() has something to give.
  int descriptor() const noexcept { return set_.number(); }

private:
  machine::descriptor set_;
};

}  // namespace shoal::machine
