// SPDX-License-Identifier: Apache-2.0
// The aggregation buffer of a worker for what its handlers send to one node. When its channel has no free buffer, it
// continues in memory, in a list of blocks that are sent in order as buffers become free: a handler never waits. Without
// a channel (the worker's own node) the blocks are executed from the list: take_block().
// Who may call: its worker. Never switches tasks.
// Guarantees: those of outbox.hpp; memory is bounded by overflow_memory, of whole blocks.
// Test: tests/unit/aggregate/overflow_outbox_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "aggregate/outbox.hpp"
#include "aggregate/overflow_memory.hpp"

namespace shoal::aggregate {

class overflow_outbox {
public:
  struct block {
    block* next = nullptr;
    std::size_t words = 0;
    std::uint64_t* data() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
  };

  overflow_outbox() = default;
  overflow_outbox(const overflow_outbox&) = delete;
  overflow_outbox& operator=(const overflow_outbox&) = delete;
  ~overflow_outbox();

  /// `channel`: null for the worker's own node; then blocks have `words`.
  void attach(net::out_channel* channel, std::size_t words, detail::stream& stream, flush_counts& counts,
              overflow_memory& memory) noexcept;

  /// Room for `words`, in a buffer or in memory. False: there is no more memory for it.
  bool make_room(std::size_t words) noexcept;
  /// Sends what is open, and what waits in memory before it, as far as the channel has buffers; true if that was
  /// anything.
  bool publish(reason why) noexcept;
  /// Sends blocks for which the channel has buffers now.
  bool drain() noexcept;

  bool has_content() const noexcept { return begin_ != nullptr && stream_->cursor != begin_; }
  bool in_memory() const noexcept { return first_ != nullptr || open_ != nullptr; }
  bool can_drain() noexcept {
    if (!in_memory() || channel_ == nullptr) return false;
    return !channel_->acquire_for(first_ != nullptr ? first_->words : open_words()).empty();
  }
  std::uint64_t mark() const noexcept { return posted() + waiting_ + (has_content() ? 1 : 0); }
  bool reached(std::uint64_t mark) const noexcept { return done() >= mark; }
  std::uint64_t done() const noexcept { return channel_ != nullptr ? channel_->done() : executed_; }
  net::deputy wake_deputy() noexcept {
    if (channel_ == nullptr || channel_->done() >= channel_->posted()) return net::deputy::impossible;
    return channel_->wake_deputy();
  }

  /// Without a channel: the oldest block, which the caller executes and gives to end_block(); null if there is none.
  block* take_block() noexcept;
  void end_block(block* b) noexcept;

private:
  std::uint64_t posted() const noexcept { return channel_ != nullptr ? channel_->posted() : taken_; }
  std::uint64_t bytes() const noexcept { return sizeof(block) + words_ * sizeof(std::uint64_t); }
  // What waits for this node itself holds no task back: it needs no other node.
  overflow_memory::use use() const noexcept {
    return channel_ != nullptr ? overflow_memory::use::commands : overflow_memory::use::calls;
  }
  std::size_t open_words() const noexcept { return static_cast<std::size_t>(stream_->cursor - begin_); }
  bool open_block() noexcept;
  void append_open() noexcept;
  void post(const std::uint64_t* from, std::size_t words, reason why) noexcept;
  void forget(block* b) noexcept;
  void count(std::size_t words, reason why) noexcept;

  net::out_channel* channel_ = nullptr;
  std::size_t words_ = 0;  // of a block
  detail::stream* stream_ = nullptr;
  flush_counts* counts_ = nullptr;
  overflow_memory* memory_ = nullptr;
  std::uint64_t* begin_ = nullptr;  // of what is open: a buffer, or `open_`
  block* open_ = nullptr;
  block* first_ = nullptr;  // oldest; these come before what is open
  block* last_ = nullptr;
  std::uint64_t waiting_ = 0;   // blocks in the list
  std::uint64_t taken_ = 0;     // by take_block()
  std::uint64_t executed_ = 0;  // of these
};

}  // namespace shoal::aggregate
