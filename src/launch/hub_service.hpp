// SPDX-License-Identifier: Apache-2.0
// The hub's thread: accepts, listens to strangers and nodes, passes on, and watches who falls silent. One thread for
// all; other threads come in by the mutex for a moment.
// Who may call: hub, any thread. Never switches tasks; only the destructor blocks.
// Guarantees: the work for a message does not depend on the number of nodes; an exchange, a sign of life to all and a
// look for silent nodes are linear in it. Strangers take k_most_strangers connections at most besides one per node that
// has not come, a few bytes and a log line each, and k_most_lines lines together; when there are more the oldest goes.
// Shown by tests/unit/launch/control_test.cpp, many_nodes_test.cpp.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/log.hpp"
#include "launch/control.hpp"
#include "launch/hub_link.hpp"
#include "launch/roster.hpp"
#include "machine/process.hpp"
#include "machine/ready_set.hpp"
#include "machine/socket.hpp"

namespace shoal::launch {

class hub::service {
public:
  explicit service(const hub_options& options);
  ~service();

  const hub_place& place() const noexcept { return place_; }
  void interrupt(int signal);
  bool announce_lost(std::uint32_t node, std::string_view why);
  std::optional<loss> lost() const;
  int descriptor() const noexcept { return news_.descriptor(); }
  presence at(std::uint32_t node) const;
  std::string describe(std::uint32_t node) const;

private:
  static constexpr std::size_t k_most_strangers = 64;
  static constexpr int k_most_lines = 32;
  static constexpr std::int64_t k_farewell_ns = 1'000'000'000;

  // All of these with the mutex held.
  void run() noexcept;
  void serve(std::unique_lock<std::mutex>& lock);
  bool over(std::uint64_t now_ns) const noexcept;
  std::int64_t pause_ns(std::uint64_t now_ns) const noexcept;
  void accept_some(std::uint64_t now_ns);
  void watch_listening(std::uint64_t now_ns) noexcept;
  void serve(hub_link& link, const machine::ready_set::event& ready, std::uint64_t now_ns);
  void listen_to(hub_link& link, std::uint64_t now_ns);
  void take(hub_link& link, frame f);
  void greet(hub_link& link, const frame& f);
  void begin();
  void pass_on_parts();
  void has_ended(hub_link& link);
  void look_at_clock(std::uint64_t now_ns);
  void wake_at(std::uint64_t since_ns, std::int64_t limit_ns) noexcept;
  std::int64_t silence_allowed_ns(const hub_link& link) const noexcept;

  bool lose(std::uint32_t node, std::string why);
  void refuse_all(std::uint32_t node, refusal_message why);
  void stop_all(int signal);
  void log_stranger(const hub_link& link, const char* why);
  void send(hub_link& link, frame_type type, std::span<const std::byte> payload);
  void send(hub_link& link, const send_queue::piece& bytes);
  void broadcast(frame_type type, std::span<const std::byte> payload);

  void move_to(std::list<hub_link>& group, hub_link& link) noexcept;
  void close(hub_link& link);
  void forget_closed() noexcept;

  const hub_options options_;
  const std::uint64_t begin_ns_;
  const peer self_;
  const base::log_context log_;
  job_secret secret_;
  machine::socket listening_;
  hub_place place_;
  machine::wake_descriptor wake_;  // other threads -> run()
  machine::wake_descriptor news_;  // run() notifies the watcher of the hub
  machine::ready_set ready_;

  mutable std::mutex mutex_;
  roster roster_;
  std::list<hub_link> strangers_;  // that have not said who they are; the oldest first
  std::list<hub_link> members_;
  std::list<hub_link> farewells_;
  std::vector<hub_link*> closed_;           // still in their groups
  std::optional<loss> failure_;             // the first
  std::optional<refusal_message> refusal_;  // the job does not begin
  bool begun_ = false;
  bool stopping_ = false;
  std::uint64_t stopping_since_ns_ = 0;
  std::uint64_t no_room_until_ns_ = 0;
  bool listening_watched_ = true;
  std::uint64_t look_ns_ = 0;  // nothing of look_at_clock() is due before
  std::uint64_t beat_ns_ = 0;
  int lines_ = 0;

  std::thread thread_;
};

}  // namespace shoal::launch
