// SPDX-License-Identifier: Apache-2.0
// The aggregation buffer of one worker for one node and class of traffic. It opens buffers of a channel, and decides
// together with its callers when to send them: full, old, idle (its worker has nothing else to do) or on request.
// Who may call: its worker (for replies: the thread that serves the domain). Never switches tasks.
// Guarantees: commands are sent in the order in which they were written; an empty buffer is never sent. mark() names
// everything written so far; reached(mark) tells whether the receiver has executed it.
// Test: tests/unit/aggregate/outbox_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "net/channel.hpp"
#include "noise/injection.hpp"
#include "shoal/detail/stream.hpp"
#include "trace/event_ring.hpp"

namespace shoal::aggregate {

enum class reason : std::uint8_t { full, old, idle, asked, count };

struct flush_counts {
  std::array<std::uint64_t, static_cast<std::size_t>(reason::count)> buffers{};
  std::uint64_t words = 0;
  trace::event_ring* events = nullptr;  // of the worker that sends; nullptr: no trace
  trace::event_kind sent_as = trace::event_kind::send;
  std::uint16_t receiver = 0;  // of replies: the worker
};

class outbox {
public:
  /// `to`: the node, for the trace.
  void attach(net::out_channel& channel, detail::stream& stream, flush_counts& counts, std::uint32_t to) noexcept {
    to_ = to;
    channel_ = &channel;
    stream_ = &stream;
    counts_ = &counts;
  }

  /// Makes room for `words` in an open buffer; sends a full one. False if the channel has no free buffer.
  bool make_room(std::size_t words) noexcept {
    if (stream_->cursor + words <= stream_->limit && begin_ != nullptr) return true;
    publish(reason::full);
    // One that was empty may be too small for these.
    const std::span<std::uint64_t> buffer = channel_->acquire_for(words);
    if (buffer.empty()) {
      begin_ = nullptr;
      stream_->cursor = stream_->limit = nullptr;
      wanted_words_ = words;
      return false;
    }
    wanted_words_ = 1;
    begin_ = stream_->cursor = buffer.data();
    stream_->limit = begin_ + buffer.size();
    return true;
  }

  /// Sends the open buffer; false if it was empty.
  bool publish(reason why) noexcept {
    if (begin_ == nullptr || stream_->cursor == begin_) return false;
    const auto words = static_cast<std::size_t>(stream_->cursor - begin_);
    ++counts_->buffers[static_cast<std::size_t>(why)];
    counts_->words += words;
    if (counts_->events != nullptr) [[unlikely]]
      counts_->events->add(counts_->sent_as, counts_->receiver, to_,
                           trace::message_value(words * 8, channel_->posted()));
    begin_ = nullptr;
    stream_->cursor = stream_->limit = nullptr;
    noise::passes(noise::injected_at::message);
    channel_->post(words);
    return true;
  }

  /// Sends the open buffer, or gives it back if it is empty: the next command needs make_room().
  void close() noexcept {
    if (publish(reason::asked)) return;
    begin_ = nullptr;
    stream_->cursor = stream_->limit = nullptr;
  }

  bool has_content() const noexcept { return begin_ != nullptr && stream_->cursor != begin_; }
  /// The number of buffers sent so far.
  std::uint64_t posted() const noexcept { return channel_->posted(); }
  /// Whether make_room() would find what it last looked for.
  bool can_open() noexcept { return begin_ != nullptr || !channel_->acquire_for(wanted_words_).empty(); }
  std::uint64_t mark() const noexcept { return channel_->posted() + (has_content() ? 1 : 0); }
  bool reached(std::uint64_t mark) const noexcept { return channel_->done() >= mark; }
  std::size_t capacity_words() const noexcept { return channel_->capacity_words(); }
  std::size_t own_words() const noexcept { return channel_->own_words(); }
  std::uint64_t done() const noexcept { return channel_->done(); }
  /// If buffers are not executed yet, wakes a worker that can execute them.
  net::deputy wake_deputy() noexcept {
    return channel_->done() < channel_->posted() ? channel_->wake_deputy() : net::deputy::impossible;
  }

private:
  net::out_channel* channel_ = nullptr;
  detail::stream* stream_ = nullptr;
  flush_counts* counts_ = nullptr;
  std::uint64_t* begin_ = nullptr;  // of the open buffer
  std::size_t wanted_words_ = 1;
  std::uint32_t to_ = 0;
};

}  // namespace shoal::aggregate
