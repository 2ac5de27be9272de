// SPDX-License-Identifier: Apache-2.0
#include "aggregate/overflow_outbox.hpp"

#include <cstring>
#include <utility>

namespace shoal::aggregate {

overflow_outbox::~overflow_outbox() {
  if (open_ != nullptr) forget(open_);
  while (first_ != nullptr) forget(std::exchange(first_, first_->next));
}

void overflow_outbox::attach(net::out_channel* channel, std::size_t words, detail::stream& stream, flush_counts& counts,
                             overflow_memory& memory) noexcept {
  channel_ = channel;
  words_ = words;
  stream_ = &stream;
  counts_ = &counts;
  memory_ = &memory;
}

bool overflow_outbox::make_room(std::size_t words) noexcept {
  if (begin_ != nullptr && stream_->cursor + words <= stream_->limit) return true;
  if (has_content()) {
    if (open_ != nullptr) {
      append_open();
    } else {
      const std::size_t filled = open_words();
      count(filled, reason::full);
      channel_->post(filled);
    }
  }
  drain();
  std::span<std::uint64_t> room;
  if (!in_memory() && channel_ != nullptr) room = channel_->acquire_for(words);
  if (room.empty() && open_block()) room = {open_->data(), words_};
  begin_ = stream_->cursor = room.data();
  stream_->limit = begin_ + room.size();
  return !room.empty();
}

bool overflow_outbox::publish(reason why) noexcept {
  if (in_memory()) return drain();
  if (!has_content()) return false;
  const std::size_t filled = open_words();
  count(filled, why);
  begin_ = nullptr;
  stream_->cursor = stream_->limit = nullptr;
  channel_->post(filled);
  return true;
}

// Also what is open, when all before it has been sent: the sooner there is nothing in memory, the sooner tasks go on.
bool overflow_outbox::drain() noexcept {
  if (channel_ == nullptr) return false;
  bool any = false;
  while (first_ != nullptr && !channel_->acquire_for(first_->words).empty()) {
    block* const b = first_;
    first_ = b->next;
    --waiting_;
    post(b->data(), b->words, reason::full);
    forget(b);
    any = true;
  }
  if (first_ != nullptr || open_ == nullptr) return any;
  const std::size_t filled = open_words();
  if (channel_->acquire_for(filled).empty()) return any;
  block* const b = std::exchange(open_, nullptr);
  begin_ = nullptr;
  stream_->cursor = stream_->limit = nullptr;
  if (filled != 0) post(b->data(), filled, reason::asked);
  forget(b);
  return true;
}

overflow_outbox::block* overflow_outbox::take_block() noexcept {
  if (first_ == nullptr && has_content()) {
    append_open();
    begin_ = nullptr;
    stream_->cursor = stream_->limit = nullptr;
  }
  block* const b = first_;
  if (b == nullptr) return nullptr;
  first_ = b->next;
  --waiting_;
  ++taken_;
  return b;
}

void overflow_outbox::end_block(block* b) noexcept {
  ++executed_;
  forget(b);
}

bool overflow_outbox::open_block() noexcept {
  if (!memory_->take(use(), bytes())) return false;
  void* const at = ::operator new(bytes(), std::nothrow);
  if (at == nullptr) {
    memory_->give_back(use(), bytes());
    return false;
  }
  open_ = new (at) block;
  return true;
}

void overflow_outbox::append_open() noexcept {
  block* const b = std::exchange(open_, nullptr);
  b->words = open_words();
  (first_ == nullptr ? first_ : last_->next) = b;
  last_ = b;
  ++waiting_;
}

void overflow_outbox::post(const std::uint64_t* from, std::size_t words, reason why) noexcept {
  std::memcpy(channel_->acquire_for(words).data(), from, words * sizeof(std::uint64_t));
  count(words, why);
  channel_->post(words);
}

void overflow_outbox::forget(block* b) noexcept {
  b->~block();
  ::operator delete(b);
  memory_->give_back(use(), bytes());
}

void overflow_outbox::count(std::size_t words, reason why) noexcept {
  ++counts_->buffers[static_cast<std::size_t>(why)];
  counts_->words += words;
}

}  // namespace shoal::aggregate
