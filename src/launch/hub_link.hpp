// SPDX-License-Identifier: Apache-2.0
// A connection to the hub, from a stranger's first byte to a node's last frame. Who may call: the hub's thread. Never
// switches tasks, never blocks. Guarantees: until the secret is proved it holds 40 bytes and reads no more than the
// handshake has. Shown by tests/unit/launch/control_test.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>

#include "launch/frame.hpp"
#include "launch/handshake.hpp"
#include "launch/send_queue.hpp"
#include "machine/socket.hpp"

namespace shoal::launch {

class hub_link {
public:
  enum class stage : std::uint8_t {
    opening,   // nothing is known
    answer,    // it was challenged
    hello,     // it knows the secret
    member,    // it is a node of the job
    farewell,  // the message to it is the last one
    closed
  };
  enum class progress : std::uint8_t { none, moved, refused, ended };

  hub_link(machine::socket s, std::uint64_t now_ns)
      : since_ns(now_ns), heard_ns(now_ns), socket_(std::move(s)), address_(socket_.peer_address()) {}

  stage at() const noexcept { return stage_; }
  bool proven() const noexcept { return stage_ != stage::opening && stage_ != stage::answer; }
  void go_to(stage next) noexcept { stage_ = next; }
  int descriptor() const noexcept { return socket_.descriptor(); }
  const std::string& address() const noexcept { return address_; }
  void close() noexcept;

  /// Reads the bytes that have arrived. `refused`: why() has the reason; `ended`: the connection is closed.
  progress read(const job_secret& secret, std::uint64_t now_ns);
  const char* why() const noexcept { return why_; }
  /// After read(): the frames that have come.
  frame_reader& frames() noexcept { return frames_; }

  void send(send_queue::piece p) { queue_.add(std::move(p)); }
  bool flush() noexcept { return queue_.flush(socket_); }
  bool waits_to_send() const noexcept { return !queue_.empty(); }

  std::uint32_t node() const noexcept { return opening_.node; }

  std::uint64_t since_ns;         // in this stage, as far as it matters
  std::uint64_t heard_ns;         // of anything
  bool lives_regularly = false;   // its silence means something
  bool watched_for_room = false;  // to send
  // Where the hub keeps it.
  std::list<hub_link>* group = nullptr;
  std::list<hub_link>::iterator place;

private:
  progress shake_hands(const job_secret& secret);
  progress refuse(const char* why) noexcept;

  machine::socket socket_;
  std::string address_;  // while it was there to be asked
  stage stage_ = stage::opening;
  std::array<std::byte, k_opening_bytes> first_{};
  std::size_t first_count_ = 0;
  opening opening_;
  nonce number_{};
  const char* why_ = "";
  frame_reader frames_;
  send_queue queue_;
};

}  // namespace shoal::launch
