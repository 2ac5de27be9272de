// SPDX-License-Identifier: Apache-2.0
// Handles: sets of tasks on all nodes, of which any may start more, and which one task waits for.
// A node has an account of each handle that is in use there: of tasks that run here, and of what was begun here and has
// not ended. The account of the node that made the handle (its owner) lasts as long as the handle. Another node's
// account is opened by the first task of the handle that arrives, which ends only when the account is empty again:
// whoever sent it waits for its end, so every account is counted in that of another node, and finally in the owner's
// (Dijkstra and Scholten, "Termination detection for diffusing computations", 1980). A task that is not of the handle,
// but starts one of it, first has the owner count its node (add_token).
// Who may call: see each function. No lock is held over a wait.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "shoal/detail/completion.hpp"

namespace shoal::gmt {

/// A node's part of a handle.
struct handle_account {
  std::uint32_t handle = 0;
  // Partners: the tasks of the handle on this node, and the ends of what they have begun. From 1 to 0, and of an empty
  // one to 1, only under the table's lock.
  std::atomic<std::uint64_t> count{0};
  detail::completion* waiter = nullptr;  // ended when the account is empty; under the lock
  std::uint64_t tokens = 0;              // that the owner has counted for this node; under the lock
};

class handle_table {
public:
  handle_table(std::uint32_t node, std::uint32_t nodes);

  // --- on the handle's owner ---
  /// Ends the program if there are too many.
  std::uint32_t make();
  /// Waits until the account is empty and ends the handle. Switches. Ends the program if there is no such handle.
  void wait(std::uint32_t handle);
  /// Another node has begun to use the handle, though no task of it has been sent there. Does not switch.
  void add_token(std::uint32_t handle);
  void take_tokens(std::uint32_t handle, std::uint64_t n) noexcept;

  std::uint32_t owner(std::uint32_t handle) const noexcept { return node_bits_ == 0 ? 0 : handle >> (32 - node_bits_); }

  // --- on any node ---
  /// Counts one in the handle's account here: nullptr if there is none here.
  handle_account* find(std::uint32_t handle);
  /// The same; opens one if there is none, and says so.
  handle_account* find_or_open(std::uint32_t handle, bool& opened);
  /// One more in an account in which the caller counts. Does not switch.
  static void add(handle_account& a) noexcept { a.count.fetch_add(1, std::memory_order_relaxed); }
  /// One less. The account may be gone. Does not switch.
  void leave(handle_account& a) noexcept;
  /// The same for the task that has opened the account: returns when it was empty once. Switches.
  void leave_and_wait(handle_account& a) noexcept;
  /// For an account that the caller has found or opened: the owner has counted this node for it.
  void keep_token(handle_account& a) noexcept;

private:
  static constexpr unsigned k_slot_bits = 18;
  static constexpr std::uint32_t k_slots = (1U << k_slot_bits) - 1;  // the last number is no slot: ~0 is no handle

  struct slot {
    std::unique_ptr<handle_account> account;  // nullptr: free
    std::uint32_t generation = 0;
  };
  handle_account* own_account(std::uint32_t handle) noexcept;

  const std::uint32_t node_;
  const unsigned node_bits_;
  std::mutex lock_;
  std::vector<slot> slots_;
  std::deque<std::uint32_t> free_;
  std::unordered_map<std::uint32_t, std::unique_ptr<handle_account>> others_;  // of other nodes' handles
};

/// While it exists, the calling task is of the handle (unless that is none): made by what begins such a task here.
/// Its destruction may switch.
class handle_member {
public:
  explicit handle_member(std::uint32_t handle);
  handle_member(const handle_member&) = delete;
  handle_member& operator=(const handle_member&) = delete;
  ~handle_member();
  handle_account* account() const noexcept { return account_; }

private:
  handle_account* account_ = nullptr;
  bool opened_ = false;
};

/// Counts what the calling task is about to begin under a handle; `own`: the account that the task counts in, or
/// nullptr. May switch, if the task is not of the handle.
handle_account& begin_under(std::uint32_t handle, handle_account* own, const char* function);
/// It has ended. Any worker of the node; does not switch.
void end_under(handle_account& a) noexcept;

}  // namespace shoal::gmt
