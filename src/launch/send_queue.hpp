// SPDX-License-Identifier: Apache-2.0
// Bytes that wait for a socket to take them, in order; one piece may wait for several sockets without being copied.
// Who may call: one thread at a time. Never switches tasks, never blocks. Shown by tests/unit/launch/control_test.cpp.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "machine/socket.hpp"

namespace shoal::launch {

class send_queue {
public:
  using piece = std::shared_ptr<const std::vector<std::byte>>;

  void add(piece p) {
    if (!p->empty()) pieces_.push_back(std::move(p));
  }
  void add(std::vector<std::byte> bytes) { add(std::make_shared<const std::vector<std::byte>>(std::move(bytes))); }
  bool empty() const noexcept { return pieces_.empty(); }

  /// Sends what the socket takes now. False if it is closed.
  bool flush(machine::socket& to) noexcept {
    while (!pieces_.empty()) {
      const auto left = std::span(*pieces_.front()).subspan(sent_);
      const machine::transfer moved = to.send(left);
      if (moved.state == machine::stream_state::closed) return false;
      if (moved.state == machine::stream_state::blocked) return true;
      sent_ += moved.bytes;
      if (moved.bytes < left.size()) continue;
      pieces_.pop_front();
      sent_ = 0;
    }
    return true;
  }

private:
  std::deque<piece> pieces_;
  std::size_t sent_ = 0;  // of the first
};

}  // namespace shoal::launch
