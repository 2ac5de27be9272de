// SPDX-License-Identifier: Apache-2.0
// Which message a receive of MPI takes, and which receive takes a message: hashed by communicator, source and tag.
// Among the messages that fit, a receive takes the one that arrived first; a message goes to the receive that was posted
// first. No operation scans a queue, wildcards included: a receive with a wildcard has a list of its own in the same
// table, and messages are also listed by the kinds of wildcards that receives have used so far.
// Who may call: one thread, the receiving rank's worker. Nothing here switches tasks.
// Complexity: O(1) expected; the first use of a kind of wildcard: O(messages that wait). reserve() allocates,
// and that first use.
// Source: MPI 5.0, 3.5 (order). Test: tests/unit/rank/matching_test.cpp, against a linear search.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rank/queue_table.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::rank {

/// In place of a source or a tag: any.
inline constexpr std::int32_t k_any = -1;

/// What is matched. `context` names a communicator and what it is used for.
struct envelope {
  std::uint64_t context = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  friend bool operator==(const envelope&, const envelope&) = default;
};

/// A receive that waits for a message. Its owner keeps it until it is matched or cancelled.
struct posted_receive {
  envelope wanted;
  std::uint64_t order = 0;
  queue_link link;
};

/// A message that waits for a receive. Its owner keeps it until it is taken.
struct waiting_message {
  envelope sent;
  queue_link in_order;               // among all
  std::array<queue_link, 4> listed;  // by each kind of wildcards
};

class matching {
public:
  /// Room for one more receive and one more message. May throw std::bad_alloc; then nothing has changed.
  void reserve() {
    receives_by_key_.reserve();
    messages_by_key_[0].reserve();
    if (used_kinds_ != 1) [[unlikely]]
      reserve_others();
  }
  /// After reserve(): the message that `r` takes, which is no longer listed; nullptr if `r` waits now.
  waiting_message* post(posted_receive& r) {
    if (messages_ != 0)
      if (waiting_message* const m = take_message(r.wanted); m != nullptr) return m;
    const unsigned kind = kind_of(r.wanted);
    r.order = ++order_;
    receives_by_key_.at(key_of(r.wanted, kind)).append(r.link);
    ++posted_of_kind_[kind];
    ++receives_;
    return nullptr;
  }
  /// The receive that takes a message sent so, which is no longer listed; nullptr if there is none.
  posted_receive* take_receive(const envelope& sent) noexcept {
    SHOAL_CHECK(sent.source >= 0 && sent.tag >= 0, "a message has no wildcards");
    if (receives_ == 0) return nullptr;
    if (posted_of_kind_[0] != receives_) [[unlikely]]
      return take_receive_of_any_kind(sent);
    queue_ends* const q = receives_by_key_.find(key_of(sent, 0));
    return q == nullptr || q->empty() ? nullptr : &take_first(*q, 0);
  }
  /// After reserve(), if take_receive(m.sent) has just given nothing: `m` waits now.
  void keep(waiting_message& m) noexcept;
  /// The message that a receive of `wanted` would take. After reserve().
  waiting_message* find(const envelope& wanted);
  /// `m`, which find() has returned, is taken (matched probe).
  void take(waiting_message& m) noexcept;
  /// `r` waits no longer.
  void cancel(posted_receive& r) noexcept;

  /// Takes all messages out; calls end(message) for each.
  template <class End>
  void clear(const End& end) {
    while (!in_order_.empty()) {
      waiting_message& m = oldest();
      take(m);
      end(m);
    }
  }

  /// Calls f(envelope) for each message that waits, for reports.
  template <class F>
  void for_each_message(const F& f) const {
    for (queue_link* l = in_order_.first; l != nullptr; l = l->behind) f(in_order(l).sent);
  }

  std::size_t receives() const noexcept { return receives_; }
  std::size_t messages() const noexcept { return messages_; }

private:
  // Kinds of wildcards: bit 0 any source, bit 1 any tag.
  static constexpr unsigned k_kinds = 4;
  static unsigned kind_of(const envelope& e) noexcept {
    return (e.source == k_any ? 1U : 0U) | (e.tag == k_any ? 2U : 0U);
  }
  static queue_key key_of(const envelope& e, unsigned kind) noexcept {
    const auto source = static_cast<std::uint32_t>((kind & 1) != 0 ? k_any : e.source);
    const auto tag = static_cast<std::uint32_t>((kind & 2) != 0 ? k_any : e.tag);
    return {e.context, std::uint64_t{source} << 32 | tag};
  }
  static posted_receive& receive_at(queue_link* l) noexcept {
    return *reinterpret_cast<posted_receive*>(reinterpret_cast<std::byte*>(l) - offsetof(posted_receive, link));
  }
  posted_receive& take_first(queue_ends& q, unsigned kind) noexcept {
    posted_receive& r = receive_at(q.first);
    q.remove(r.link);
    --posted_of_kind_[kind];
    --receives_;
    return r;
  }
  void reserve_others();
  waiting_message* take_message(const envelope& wanted);
  posted_receive* take_receive_of_any_kind(const envelope& sent) noexcept;
  bool is_used(unsigned kind) const noexcept { return (used_kinds_ >> kind & 1) != 0; }
  static waiting_message& in_order(queue_link* l) noexcept;
  waiting_message& oldest() const noexcept { return in_order(in_order_.first); }
  void list(waiting_message& m, unsigned kind) noexcept;
  void list_all(unsigned kind);

  queue_table receives_by_key_;
  std::array<queue_table, k_kinds> messages_by_key_;
  queue_ends in_order_;
  std::array<std::size_t, k_kinds> posted_of_kind_{};
  unsigned used_kinds_ = 1;  // bit k: messages are listed by kind k
  std::uint64_t order_ = 0;
  std::size_t receives_ = 0;
  std::size_t messages_ = 0;
};

}  // namespace shoal::rank
