// SPDX-License-Identifier: Apache-2.0
#include "remote/mailbox.hpp"

#include <algorithm>

#include "fiber/sanitizer.hpp"
#include "machine/futex.hpp"
#include "remote/code.hpp"
#include "remote/worker_port.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::remote {

void mailbox::trace_post() noexcept {
  events_->add(trace::event_kind::mail_send, static_cast<std::uint16_t>(receiver_.worker), receiver_.node,
               trace::message_value(out_->words() * 8, out_->position()));
}

bool mailbox::execute(sched::worker& w) noexcept {
  if (std::exchange(executes_, true)) return false;
  std::size_t executed = 0;
  for (; executed < k_most_at_once; ++executed) {
    const std::span<const std::uint64_t> message = port_->in.front();
    if (message.empty()) break;
    const std::uint64_t name = message[0] >> k_node_bits;
    if (name != last_name_) {
      last_code_ = decode_receiver(name);
      last_name_ = name;
      SHOAL_ASSERT(last_code_ != nullptr, "a message names a receiver that this program does not have");
    }
    const auto from = static_cast<std::uint32_t>(message[0] & ((std::uint64_t{1} << k_node_bits) - 1));
    if (events_ != nullptr) [[unlikely]]
      events_->add(trace::event_kind::mail_receive, 0, from,
                   trace::message_value(message.size() * 8, port_->in.position()));
    last_code_({w, from, message.subspan(1)});
    port_->in.release(message.size());
  }
  executes_ = false;
  return executed != 0;
}

bool mailbox::pending() noexcept {
  const fiber::tsan_ignore_scope ignore;
  return in_flight() ||
         std::ranges::any_of(crowded_, [](const waiters& c) { return c.for_room_in->has_room(c.words); });
}

// Looks at a few receivers, in turn.
bool mailbox::wake_waiters() noexcept {
  constexpr std::size_t k_most_looks = 8;
  bool any = false;
  for (std::size_t looks = std::min(k_most_looks, crowded_.size()); looks > 0; --looks) {
    if (next_look_ >= crowded_.size()) next_look_ = 0;
    waiters& c = crowded_[next_look_];
    if (!c.for_room_in->has_room(c.words)) {
      ++next_look_;
      continue;
    }
    stream_waiter* first = std::exchange(c.first, nullptr);
    c = crowded_.back();
    crowded_.pop_back();
    while (first != nullptr) {
      stream_waiter* const next = first->next;
      first->fire(*first);
      first = next;
    }
    any = true;
  }
  return any;
}

namespace {

struct waiting_sender final : stream_waiter {
  waiting_sender() noexcept {
    task = detail::this_task();
    fire = [](stream_waiter& w) noexcept { detail::wake(static_cast<waiting_sender&>(w).task); };
  }
  detail::suspended* task;
};

}  // namespace

// Returns when there seems to be room; others may take it first.
void mailbox::make_room(std::uint32_t node, std::uint32_t worker, std::size_t words) {
  const fiber::tsan_ignore_scope ignore;
  SHOAL_ASSERT(words <= net::k_most_mail_words, "a message is too long");
  net::mail_out& out = port_->to(node, worker);
  constexpr int k_polls_before_leaving = 16;
  for (int tries = 0; tries < k_polls_before_leaving; ++tries) {
    // The receiver is slow. It may wait for this node to take what it has sent.
    if (!sched::this_worker()->poll()) machine::pause();
    if (out.has_room(words)) return;
  }
  waiting_sender me;
  const auto known = std::ranges::find(crowded_, &out, &waiters::for_room_in);
  if (known == crowded_.end()) {
    crowded_.push_back({&out, words, &me, &me});
  } else {
    known->last->next = &me;
    known->last = &me;
  }
  detail::leave(detail::wait_kind::room, detail::numbered(node));
}

mailbox& mailbox_of(detail::worker_base& w) noexcept { return static_cast<worker_port&>(*w.port).mail(); }

}  // namespace shoal::remote
