// SPDX-License-Identifier: Apache-2.0
// A node's end of its connection to the hub: what control is made of. Who may call: control; announce() any thread, the
// rest one thread at a time. Never switches tasks; blocks its thread. Guarantees: as control.hpp says.
// Shown by tests/unit/launch/control_test.cpp.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "launch/control.hpp"
#include "launch/control_message.hpp"
#include "launch/frame.hpp"
#include "launch/handshake.hpp"
#include "launch/send_queue.hpp"
#include "machine/socket.hpp"

namespace shoal::launch {

class control::connection {
public:
  connection(const hub_place& place, const identity& me, std::int64_t timeout_ns);

  std::vector<std::vector<std::byte>> exchange(std::span<const std::byte> mine);
  void leave();
  std::optional<loss> watch(std::int64_t timeout_ns, int wake_descriptor);
  void live_regularly();
  int descriptor() const noexcept { return socket_.descriptor(); }
  void announce(frame_type type, const loss_message& what);

private:
  bool come(const hub_place& place, std::uint64_t deadline_ns);
  bool receive_all(std::span<std::byte> room, std::uint64_t deadline_ns);
  bool wait_for_welcome(std::uint64_t deadline_ns);
  bool step(std::uint64_t until_ns, int wake_descriptor);
  void read(std::uint64_t now_ns);
  void take(const frame& f);
  void send(frame_type type, std::span<const std::byte> payload);
  void flush();
  void beat(std::uint64_t now_ns);
  std::uint64_t next_ns(std::uint64_t deadline_ns) const noexcept;
  void hub_is_lost(const std::string& how);
  void close();

  const identity me_;
  const std::string address_;  // of the hub, for people
  machine::socket socket_;     // closed by the watching thread only, with the mutex held
  frame_reader frames_;
  std::optional<welcome_message> welcome_;
  std::optional<refusal_message> refusal_;
  std::vector<std::optional<std::vector<std::byte>>> parts_;
  std::uint32_t parts_missing_ = 0;
  std::optional<loss> news_;  // the first and only
  bool told_ = false;         // watch() has returned it
  bool left_ = false;
  bool regular_ = false;  // silence means something from now on, and the hub has been told
  std::uint64_t heard_ns_ = 0;
  std::uint64_t beat_ns_ = 0;

  std::mutex mutex_;  // of what is sent
  send_queue queue_;
};

}  // namespace shoal::launch
