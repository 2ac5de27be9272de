// SPDX-License-Identifier: Apache-2.0
// The teams of a node: messages that members on other nodes have sent and this node has not taken yet, by team and key;
// and what the left neighbour and this member have called, as far as the two are not compared yet.
// Who may call: deliver, announce, learn: inside a poll; the other functions: tasks. begin, take, leave and tell switch.
// Guarantees: each letter is taken once; a letter for a team that this node has not entered yet is kept. A member that
// waits learns of every failure: its own comparison, or the notice of the member that noticed or threw.
// Shown by tests/cluster/spmd_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "shoal/detail/worker.hpp"
#include "shoal/spmd.hpp"

namespace shoal::detail {

/// What a member calls: the collective, its root, and the words of a value. One word.
class called {
public:
  called() = default;
  called(collective what, std::uint32_t root, std::size_t words) noexcept
      : word_(static_cast<std::uint64_t>(what) << 56 | static_cast<std::uint64_t>(words) << 32 | root) {}
  explicit called(std::uint64_t word) noexcept : word_(word) {}

  std::uint64_t word() const noexcept { return word_; }
  collective what() const noexcept { return static_cast<collective>(word_ >> 56); }
  /// "calls barrier()".
  std::string text() const;
  bool operator==(const called&) const = default;

private:
  std::uint64_t word_ = 0;
};

/// Why a team cannot go on.
struct team_failure {
  int code = 0;  // errc
  std::uint32_t node = 0;
  std::string type;  // of the exception that a member has thrown; empty: members that do not fit together
  std::string message;
};

class team_state {
public:
  explicit team_state(std::uint64_t id) noexcept : id_(id) {}

  // --- the member ---
  /// Begins the next collective. Throws if the team has failed.
  void begin(called what);
  void send(std::uint32_t node, std::uint64_t step, std::span<const std::uint64_t> words);
  std::vector<std::uint64_t> take(std::uint64_t step);
  /// Returns when the left neighbour has come to its end, too.
  void leave();
  /// Tells all other members of a failure, unless they know of one.
  void tell(team_failure f);
  bool failed() noexcept;

  // --- arrivals ---
  void deliver(std::uint32_t from, std::uint64_t key, called what, std::span<const std::uint64_t> words);
  void announce(std::uint32_t from, std::uint64_t sequence, called what);
  void learn(team_failure f);

  // Keys of the letters of one collective: its sequence number and the step within it.
  static constexpr unsigned k_step_bits = 8;

private:
  struct letter {
    std::uint32_t from;
    called what;
    std::vector<std::uint64_t> words;
  };

  std::uint64_t key_of(std::uint64_t step) const noexcept { return sequence_ << k_step_bits | step; }
  void compare(std::uint32_t from, std::uint64_t sequence, called mine, called theirs);
  void compare_with_neighbour(std::uint32_t from, std::uint64_t sequence, called theirs);
  void throw_failure(std::unique_lock<std::mutex>& held);
  template <class Ready>
  void wait_until(std::unique_lock<std::mutex>& held, const Ready& ready);

  std::uint64_t id_;
  std::uint64_t sequence_ = ~std::uint64_t{0};  // of the collective that this member is in, or was in last
  called now_;                                  // that collective
  std::mutex lock_;                             // of all below; never held over a wait
  std::map<std::uint64_t, letter> letters_;
  std::map<std::uint64_t, called> mine_;    // by sequence: the left neighbour has not said yet what it calls
  std::map<std::uint64_t, called> theirs_;  // this member has not come so far
  std::optional<team_failure> failure_;
  bool to_tell_ = false;  // this member has noticed it, and is to tell the others
  suspended* waiter_ = nullptr;
};

}  // namespace shoal::detail

namespace shoal::cluster {

class node_teams {
public:
  explicit node_teams(std::uint32_t node) noexcept : next_id_(std::uint64_t{node} << 40) {}

  std::uint64_t new_id() noexcept { return next_id_.fetch_add(1, std::memory_order_relaxed); }
  /// Whoever executes a message of the team holds on to it: the member may leave meanwhile, on another worker.
  std::shared_ptr<detail::team_state> of(std::uint64_t id);
  void forget(std::uint64_t id) noexcept;

private:
  std::atomic<std::uint64_t> next_id_;  // partners: other workers
  std::mutex lock_;
  std::unordered_map<std::uint64_t, std::shared_ptr<detail::team_state>> teams_;
};

}  // namespace shoal::cluster
