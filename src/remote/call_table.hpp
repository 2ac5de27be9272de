// SPDX-License-Identifier: Apache-2.0
// The calls of a worker whose answers have not come. Messages name a call by its place in this table and a number that
// is used once, never by an address, so that what arrives can end only calls that are in flight to its sender.
// Who may call: add() the table's worker; take() any thread that serves the node's messages. Never switches tasks.
// Guarantees: a call is taken once. add() is a few stores, but for the growth of the table; memory of the table follows
// the largest number of calls in flight, at most k_most_calls.
// Tests: tests/model/call_table_test.cpp, tests/unit/remote/call_table_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
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

/// Throws shoal::error (exhausted): so many calls of a worker have no answer.
[[noreturn]] void refuse_call(std::uint64_t in_flight);

template <class Atomics = lockfree::std_atomics, std::uint64_t FirstBlock = 64>
class basic_call_table {
public:
  static constexpr std::uint64_t k_most_calls = std::uint64_t{1} << 24;

  explicit basic_call_table(unsigned worker) : worker_(worker) {}

  /// What names the call. Throws std::bad_alloc, or shoal::error (exhausted) if too many are in flight; then nothing
  /// has changed.
  std::uint64_t add(const pending_call& c);
  /// Nothing: no call of this name is in flight to that node.
  std::optional<pending_call> take(std::uint64_t name, std::uint32_t from);

  static unsigned worker_of(std::uint64_t name) noexcept { return name & ((1U << k_worker_bits) - 1); }

private:
  struct slot : lockfree::inbox_node<Atomics> {
    // 0: free. Partners: add() (release) and take() (acquire), which see the call.
    typename Atomics::template atomic<std::uint64_t> name{0};
    typename Atomics::template plain<pending_call> call;
    std::uint64_t next_name = 0;
  };
  // A name: the number of its use (0 never, each once in 2^30), the place, the worker.
  static constexpr unsigned k_worker_bits = 10;
  static constexpr unsigned k_place_bits = 24;
  static constexpr std::uint64_t k_next_use = std::uint64_t{1} << (k_worker_bits + k_place_bits);
  // Blocks of slots, each twice as large as the one before.
  static constexpr std::uint64_t k_first_block = FirstBlock;
  static constexpr unsigned k_blocks = std::bit_width(k_most_calls / FirstBlock) - 1;
  static_assert(k_first_block * ((std::uint64_t{1} << k_blocks) - 1) >= k_most_calls - k_first_block);

  slot* find(std::uint64_t place);
  void grow();

  const unsigned worker_;
  slot* free_ = nullptr;               // the worker's
  unsigned blocks_made_ = 0;           // the worker's
  lockfree::inbox<Atomics> returned_;  // free again
  // Partners: grow() and find(), which may come with a name that nobody gave, and sees slots that are made.
  std::array<typename Atomics::template atomic<slot*>, k_blocks> blocks_{};
  std::vector<std::unique_ptr<slot[]>> owned_;
};

template <class Atomics, std::uint64_t FirstBlock>
auto basic_call_table<Atomics, FirstBlock>::find(std::uint64_t place) -> slot* {
  const auto block = static_cast<unsigned>(std::bit_width(place / k_first_block + 1) - 1);
  if (block >= k_blocks) return nullptr;
  slot* const first = blocks_[block].load(std::memory_order_acquire);
  return first == nullptr ? nullptr : first + (place - k_first_block * ((std::uint64_t{1} << block) - 1));
}

template <class Atomics, std::uint64_t FirstBlock>
void basic_call_table<Atomics, FirstBlock>::grow() {
  const std::uint64_t first_place = k_first_block * ((std::uint64_t{1} << blocks_made_) - 1);
  const std::uint64_t count = k_first_block << blocks_made_;
  if (first_place + count > k_most_calls) refuse_call(first_place);
  owned_.reserve(owned_.size() + 1);
  auto made = std::make_unique<slot[]>(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    made[i].next_name = k_next_use | (first_place + i) << k_worker_bits | worker_;
    made[i].next.write(i + 1 < count ? &made[i + 1] : nullptr);
  }
  free_ = made.get();
  blocks_[blocks_made_++].store(made.get(), std::memory_order_release);
  owned_.push_back(std::move(made));
}

template <class Atomics, std::uint64_t FirstBlock>
std::uint64_t basic_call_table<Atomics, FirstBlock>::add(const pending_call& c) {
  if (free_ == nullptr) free_ = static_cast<slot*>(returned_.take_all());
  if (free_ == nullptr) grow();
  slot& s = *free_;
  free_ = static_cast<slot*>(s.next.read());
  s.call.write(c);
  const std::uint64_t name = s.next_name;
  s.next_name += k_next_use;
  if (s.next_name < k_next_use) s.next_name += k_next_use;  // 0 is no use
  s.name.store(name, std::memory_order_release);
  return name;
}

template <class Atomics, std::uint64_t FirstBlock>
std::optional<pending_call> basic_call_table<Atomics, FirstBlock>::take(std::uint64_t name, std::uint32_t from) {
  slot* const s = find(name >> k_worker_bits & ((std::uint64_t{1} << k_place_bits) - 1));
  std::uint64_t expected = name;
  if (s == nullptr || name < k_next_use) return std::nullopt;
  if (!s->name.compare_exchange_strong(expected, 0, std::memory_order_acquire, std::memory_order_relaxed))
    return std::nullopt;
  const pending_call c = s->call.read();
  if (c.node != from) return std::nullopt;  // its place is lost, since the caller ends the program
  returned_.push(s);
  return c;
}

using call_table = basic_call_table<>;

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
