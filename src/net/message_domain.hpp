// SPDX-License-Identifier: Apache-2.0
// A wire, the lock that guards it, and the lanes that use it. Internal to message_transport.hpp.
// Threads: any, but for functions marked as under the lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "net/message_transport.hpp"

namespace shoal::net {

class message_domain final : public wire_user {
public:
  /// `server`: the activity to wake for posted messages; null: the posting thread sends.
  message_domain(wire& over, const message_shape& shape, const message_transport::loss_handler& lost,
                 message_server* server);
  message_server* server() const noexcept { return server_; }
  /// Its messages go through here.
  void add(message_lane& lane, unsigned worker);
  /// Its worker parks only when nothing happens here.
  void add_sleeper(message_lane& lane) { sleepers_.push_back(&lane); }

  /// Readable when something happens after arm(); -1: the library does not tell.
  int event() const noexcept { return wire_.event(); }
  void be_watched(message_watch& by, unsigned number) noexcept;
  /// As that of the wire; k_look_again: something has moved, or another thread is at it.
  static constexpr std::int64_t k_look_again = 0;
  std::int64_t longest_sleep_ns() noexcept;
  domain* inner() noexcept { return wire_.inner(); }
  /// For a worker that parks. True: later events are served and wake it. False: poll again.
  bool arm() noexcept;
  /// After an event: moves messages until there are none, and arms the event again if a worker still sleeps.
  void serve_event() noexcept;

  /// Under the lock.
  void send_now(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
                std::atomic<bool>& sent) noexcept;
  void send(message_lane& lane, std::uint32_t to, traffic t, std::uint64_t* words, std::size_t count,
            std::atomic<bool>& sent) noexcept;
  /// Asks the same lane of that node to look at what its siblings do not.
  void nudge(message_lane& lane, std::uint32_t to) noexcept;
  bool one_sided() const noexcept { return wire_.one_sided(); }
  bool put(remote_piece to, const void* from, std::size_t bytes, std::atomic<bool>& done) noexcept;
  bool get(remote_piece from, void* to, std::size_t bytes, std::atomic<bool>& done) noexcept;
  /// Unless another thread is at it.
  bool progress() noexcept;
  /// At the end: acknowledges what has been executed; whether all messages have left, after another look.
  void begin_end() noexcept;
  bool has_sent_all() noexcept;
  /// From now on losses are not reported: other nodes may leave.
  void end_losses() noexcept;

  bool arrived(const arrival& a) noexcept override;
  void unreachable(std::uint32_t node, const char* why) noexcept override;

private:
  void hold() noexcept;
  bool move() noexcept;
  bool arm_now() noexcept;

  machine::executor& executor_;
  wire& wire_;
  const message_transport::loss_handler& lost_;
  const std::uint32_t node_;
  std::unique_ptr<any_lock> lock_;
  std::vector<message_lane*> by_worker_;  // null: not ours
  std::vector<message_lane*> lanes_;      // ours
  std::vector<message_lane*> sleepers_;
  std::vector<bool> unreachable_;  // by node; under the lock
  bool tells_losses_ = true;       // under the lock
  message_server* const server_;
  message_watch* watch_ = nullptr;
  unsigned number_ = 0;  // with the watch
};

}  // namespace shoal::net
