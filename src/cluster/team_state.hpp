// SPDX-License-Identifier: Apache-2.0
// A node's part of the teams of one spmd(): what its member has sent and expects, what has arrived, and what the left
// neighbour and this member have called, as far as the two are not compared yet.
// Who may call: on_ functions: inside a poll, if they do not say otherwise; the other functions: tasks. announce, await,
// send, leave, close and tell switch tasks.
// Guarantees: a message reaches the call that it is for, also if that has not begun here. What members keep for this
// node's member before it expects it is bounded: beyond k_window_bytes the sender waits. Whoever waits learns of every
// failure: the own comparison, or the notice of the member that noticed or threw.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "remote/failure.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/team_call.hpp"
#include "shoal/detail/worker.hpp"

namespace shoal::detail {

/// Why a team cannot go on: the exception that a member has thrown; without a type: members that do not fit together.
using team_failure = remote::failure;

struct letter_name_hash {
  std::size_t operator()(const letter_name& n) const noexcept;
};

/// A message between members, as it travels; data follows.
struct letter_head {
  std::uint64_t team;
  letter_name name;
  called what;
  std::uint64_t bytes;  // of the whole message
};

class team_state {
public:
  explicit team_state(std::uint64_t id) noexcept : id_(id) {}

  std::uint64_t id() const noexcept { return id_; }

  // --- the member's tasks ---
  void begin_call() noexcept { open_calls_.fetch_add(1, std::memory_order_relaxed); }
  void end_call() noexcept { open_calls_.fetch_sub(1, std::memory_order_relaxed); }
  /// A call begins. Throws if the team has failed.
  void announce(const team_group& group, std::uint64_t number, called what);
  void expect(const team_group& group, const letter_name& name, called what, std::span<std::byte> target);
  /// Returns whether it has sent what was in open buffers.
  bool await(const letter_name& name);
  void send(const team_group& group, const letter_name& name, called what, std::span<const std::byte> bytes);
  /// A call ends early: nothing may be written to what it expects any more.
  void forget(std::span<const letter_name> names) noexcept;
  /// The body has returned. Returns when the left neighbour has come to its end, too.
  void leave(team_group& group);
  /// A team that split() has made is destroyed.
  void close(team_group& group) noexcept;
  /// Tells all other members of a failure, unless they know of one.
  void tell(team_failure f);
  bool failed() noexcept;

  // --- arrivals ---
  void on_letter(std::uint32_t node, const letter_head& head, std::span<const std::uint64_t> data);
  void on_request(const arrival& a, const letter_head& head);
  void on_part(const letter_head& head, std::uint64_t offset, std::span<const std::uint64_t> data);
  void on_grant(const letter_name& name);
  void on_taken(std::uint32_t node, std::uint64_t bytes);
  void on_announcement(std::uint64_t group, std::uint32_t member, std::uint64_t number, called what);
  /// By a task: of another node. True: this node hears of one for the first time, and the caller is to spread it.
  bool on_failure(team_failure f);

  /// Most bytes of messages that this node's member has sent to a node and that were not taken there.
  static constexpr std::uint64_t k_window_bytes = 65536;

private:
  // A message to this member that it expects, or that has arrived early, or whose sender asks for leave to send it.
  struct incoming {
    called what;             // of this member if `expected`, else of the sender
    std::uint32_t rank = 0;  // of this member, if `expected`
    std::uint32_t node = 0;  // of the sender
    std::size_t bytes = 0;
    std::byte* target = nullptr;  // if `expected`
    std::size_t missing = 0;      // of the bytes, in the target
    std::vector<std::byte> early;
    bool expected = false;
    bool asked = false;      // the sender waits for leave to send
    bool arrived = false;    // all of it, in `early` or in the target
    bool in_window = false;  // it counts in the sender's window until it is taken
    suspended* waiter = nullptr;
  };
  // A message whose sender, here, waits for leave to send it.
  struct outgoing {
    bool granted = false;
    suspended* waiter = nullptr;
  };
  struct window {
    std::uint64_t sent = 0, acknowledged = 0;  // what this member has sent to the node
    std::uint64_t taken = 0, reported = 0;     // what it has taken from there
  };
  struct caller {
    std::uint32_t member;
    called what;
  };
  struct neighbours {
    std::map<std::uint64_t, caller> mine;    // by number: the left neighbour has not said yet what it calls
    std::map<std::uint64_t, caller> theirs;  // this member has not come so far
  };
  using lock = std::unique_lock<std::mutex>;
  using waiters = std::vector<suspended*>;  // to wake when the lock is free

  // All of these with the lock held. False: the team fails.
  bool compare(std::uint64_t number, const caller& mine, const caller& theirs);
  void compare_pair(std::uint64_t group, std::uint64_t number, const caller& mine, const caller& theirs);
  void compare_with_left(std::uint64_t group, std::uint64_t number, const caller& theirs);
  void finish_arrival(incoming& in, waiters& woken);
  void take_all_waiters(waiters& woken);
  [[noreturn]] void throw_failure(lock& held);
  template <class Ready>
  void wait_until(lock& held, suspended*& waiter, const Ready& ready);

  const std::uint64_t id_;
  std::mutex lock_;  // of all below; never held over a wait
  std::unordered_map<letter_name, incoming, letter_name_hash> incoming_;
  std::unordered_map<letter_name, outgoing, letter_name_hash> outgoing_;
  std::unordered_map<std::uint32_t, window> windows_;       // by node
  std::unordered_map<std::uint64_t, neighbours> compared_;  // by group
  std::optional<team_failure> failure_;
  bool to_tell_ = false;  // this member has noticed it, and is to tell the others
  bool spread_ = false;   // the other nodes have heard of a failure from this one, or are about to
  suspended* leaving_ = nullptr;
  std::atomic<std::uint64_t> open_calls_{0};  // partners: the tasks of async calls, and leave()
};

}  // namespace shoal::detail
