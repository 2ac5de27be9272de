// SPDX-License-Identifier: Apache-2.0
// Descriptors that one thread waits for, however many: a wait costs what is ready, not what is watched (epoll(7)).
// Who may call: wait() one thread; the rest any, also meanwhile. Never switches tasks; wait() blocks its thread.
// Guarantees: a descriptor is reported as long as it is ready; one that is closed is no longer watched. An end or a
// failure makes it readable: the next transfer tells. Shown by tests/unit/machine/ready_set_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "machine/descriptor.hpp"

namespace shoal::machine {

class ready_set {
public:
  struct event {
    std::uint64_t tag = 0;
    bool readable = false;
    bool writable = false;
  };

  /// wait() reports at most so many at once. Throws shoal::error.
  explicit ready_set(std::size_t most_at_once);
  ~ready_set();
  ready_set(const ready_set&) = delete;
  ready_set& operator=(const ready_set&) = delete;

  /// wait() reports it as `tag`. Throws shoal::error.
  void add(int descriptor, std::uint64_t tag, bool read, bool write);
  void change(int descriptor, std::uint64_t tag, bool read, bool write) noexcept;
  /// Negative time: for ever. Valid until the next wait; empty when the time is over.
  std::span<const event> wait(std::int64_t timeout_ns) noexcept;

private:
  struct kernel_events;
  descriptor set_;
  std::vector<event> events_;
  std::unique_ptr<kernel_events> got_;
};

}  // namespace shoal::machine
