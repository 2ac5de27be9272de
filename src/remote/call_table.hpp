// SPDX-License-Identifier: Apache-2.0
// The calls of a worker whose answers have not come. Messages name a call by its place in this table and a number that
// is used once, never by an address, so that what arrives can end only calls that are in flight to its sender.
// Who may call: add() the table's worker; take() any thread that serves the node's messages. Never switches tasks.
// Guarantees: a call is taken once. add() is a few stores, but for the growth of the table; memory of the table follows
// the largest number of calls in flight, at most k_most_calls.
// Tests: tests/unit/remote/call_table_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lockfree/inbox.hpp"
#include "shoal/detail/completion.hpp"

namespace shoal::remote {

struct pending_call {
  detail::completion* calls = nullptr;
  std::uint64_t* answer = nullptr;
  std::size_t answer_words = 0;  // at most
  std::uint32_t node = 0;        // that is called
};

class call_table {
public:
  static constexpr std::uint64_t k_most_calls = std::uint64_t{1} << 24;

  explicit call_table(unsigned worker) noexcept : worker_(worker) {}

  /// What names the call. Throws std::bad_alloc, or shoal::error (exhausted) if too many are in flight; then nothing
  /// has changed.
  std::uint64_t add(const pending_call& c);
  /// Nothing: no call of this name is in flight to that node.
  std::optional<pending_call> take(std::uint64_t name, std::uint32_t from) noexcept;

  static unsigned worker_of(std::uint64_t name) noexcept { return name & ((1U << k_worker_bits) - 1); }

private:
  struct slot : lockfree::inbox_node<> {
    // 0: free. Partners: add() (release) and take() (acquire), which see the call.
    std::atomic<std::uint64_t> name{0};
    pending_call call;
    std::uint64_t next_name = 0;
  };
  // A name: a number used once, the place, the worker.
  static constexpr unsigned k_worker_bits = 10;
  static constexpr unsigned k_place_bits = 24;
  static constexpr std::uint64_t k_next_use = std::uint64_t{1} << (k_worker_bits + k_place_bits);
  // Blocks of slots, each twice as large as the one before.
  static constexpr std::uint64_t k_first_block = 64;
  static constexpr unsigned k_blocks = 18;
  static_assert(k_first_block * ((std::uint64_t{1} << k_blocks) - 1) >= k_most_calls - k_first_block);

  slot* find(std::uint64_t place) noexcept;
  void grow();

  const unsigned worker_;
  slot* free_ = nullptr;                               // the worker's
  unsigned blocks_made_ = 0;                           // the worker's
  lockfree::inbox<> returned_;                         // free again
  std::array<std::atomic<slot*>, k_blocks> blocks_{};  // partners: grow() and find()
  std::vector<std::unique_ptr<slot[]>> owned_;
};

/// The tables of a node's workers.
class node_calls {
public:
  explicit node_calls(unsigned workers);
  call_table& of(unsigned worker) noexcept { return *tables_[worker]; }
  std::optional<pending_call> take(std::uint64_t name, std::uint32_t from) noexcept;

private:
  std::vector<std::unique_ptr<call_table>> tables_;
};

}  // namespace shoal::remote
