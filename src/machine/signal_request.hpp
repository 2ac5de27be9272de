// SPDX-License-Identifier: Apache-2.0
// A signal as a readable descriptor: a request that another process sends to this one.
// Who may call: any thread, outside tasks; one object for each signal at a time. Never switches tasks, never blocks.
// Guarantees: a program's own action for the signal stays: the object then never becomes readable. What was there
// before is there again afterwards. A child made by fork() has no part in its parent's. Shown by tests/unit/machine/signal_request_test.cpp.
#pragma once

namespace shoal::machine {

class signal_request {
public:
  /// SIGUSR1.
  signal_request();
  ~signal_request();
  signal_request(const signal_request&) = delete;
  signal_request& operator=(const signal_request&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  /// True once for the signals that have come since it was asked last.
  bool take() noexcept;

  /// Sends the signal to a process, if that has a handler for it. False if not: it would be the end of that process.
  static bool send_to(int pid) noexcept;

private:
  int descriptor_ = -1;
  bool installed_ = false;
};

}  // namespace shoal::machine
