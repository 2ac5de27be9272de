// SPDX-License-Identifier: Apache-2.0
// How much one process has sent ahead to another one: messages whose bytes travel before their receive is known, and wait
// in the receiver's memory until then. Each pair of processes has a window; a message that does not fit leaves its bytes
// with the sender until they are asked for, so nobody waits for room. Received bytes are returned in batches.
// Who may call: any thread. Nothing here switches tasks. Complexity: O(1), and no memory for a process before its first
// message. Test: tests/unit/rank/eager_windows_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace shoal::rank {

/// What a message that waits takes besides its bytes.
inline constexpr std::uint64_t k_message_bytes = 128;

class eager_windows {
public:
  static constexpr std::uint64_t k_window_bytes = std::uint64_t{1} << 20;
  static constexpr std::uint64_t k_batch_bytes = k_window_bytes / 4;

  explicit eager_windows(std::uint32_t nodes);
  eager_windows(const eager_windows&) = delete;
  eager_windows& operator=(const eager_windows&) = delete;
  ~eager_windows();

  /// Of the sender: takes room in the window to `node`; false if there is none.
  bool take(std::uint32_t node, std::uint64_t bytes) noexcept;
  /// Of the sender: `node` has returned so many.
  void give_back(std::uint32_t node, std::uint64_t bytes) noexcept;
  /// Of the receiver: a message of `node` has been received. How many bytes to return to it now; mostly 0.
  std::uint64_t received(std::uint32_t node, std::uint64_t bytes) noexcept;

private:
  struct pair {
    std::atomic<std::uint64_t> ahead{0};  // sent there, and not returned; partners: workers that send, and the handler
    std::atomic<std::uint64_t> owed{0};   // received from there, and not returned; partners: workers that receive
  };
  static constexpr std::size_t k_page = 64;
  using page = std::array<pair, k_page>;
  pair* find(std::uint32_t node) noexcept;

  const std::size_t pages_;
  const std::unique_ptr<std::atomic<page*>[]> pages_by_node_;  // made at first use; partner: find()
};

}  // namespace shoal::rank
