// SPDX-License-Identifier: Apache-2.0
#include "rank/matching.hpp"

namespace shoal::rank {
namespace {

template <class T>
T& holder(queue_link* l, std::size_t offset) noexcept {
  return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(l) - offset);
}
waiting_message& message_at(queue_link* l, unsigned kind) noexcept {
  return holder<waiting_message>(l, offsetof(waiting_message, listed) + kind * sizeof(queue_link));
}

}  // namespace

void matching::reserve_others() {
  for (unsigned kind = 1; kind < k_kinds; ++kind)
    if (is_used(kind)) messages_by_key_[kind].reserve();
}

waiting_message* matching::find(const envelope& wanted) {
  const unsigned kind = kind_of(wanted);
  if (!is_used(kind)) list_all(kind);
  const queue_ends* const q = messages_by_key_[kind].find(key_of(wanted, kind));
  return q == nullptr || q->empty() ? nullptr : &message_at(q->first, kind);
}

void matching::take(waiting_message& m) noexcept {
  for (unsigned kind = 0; kind < k_kinds; ++kind)
    if (is_used(kind)) messages_by_key_[kind].find(key_of(m.sent, kind))->remove(m.listed[kind]);
  in_order_.remove(m.in_order);
  --messages_;
}

waiting_message* matching::take_message(const envelope& wanted) {
  waiting_message* const m = find(wanted);
  if (m != nullptr) take(*m);
  return m;
}

posted_receive* matching::take_receive_of_any_kind(const envelope& sent) noexcept {
  posted_receive* first = nullptr;
  queue_ends* of_first = nullptr;
  unsigned kind_of_first = 0;
  for (unsigned kind = 0; kind < k_kinds; ++kind) {
    if (posted_of_kind_[kind] == 0) continue;
    queue_ends* const q = receives_by_key_.find(key_of(sent, kind));
    if (q == nullptr || q->empty()) continue;
    posted_receive& r = receive_at(q->first);
    if (first != nullptr && r.order > first->order) continue;
    first = &r;
    of_first = q;
    kind_of_first = kind;
  }
  return first == nullptr ? nullptr : &take_first(*of_first, kind_of_first);
}

void matching::keep(waiting_message& m) noexcept {
  for (unsigned kind = 0; kind < k_kinds; ++kind)
    if (is_used(kind)) list(m, kind);
  in_order_.append(m.in_order);
  ++messages_;
}

waiting_message& matching::in_order(queue_link* l) noexcept {
  return holder<waiting_message>(l, offsetof(waiting_message, in_order));
}

void matching::cancel(posted_receive& r) noexcept {
  const unsigned kind = kind_of(r.wanted);
  receives_by_key_.find(key_of(r.wanted, kind))->remove(r.link);
  --posted_of_kind_[kind];
  --receives_;
}

void matching::list(waiting_message& m, unsigned kind) noexcept {
  messages_by_key_[kind].at(key_of(m.sent, kind)).append(m.listed[kind]);
}

// Lists all messages by a kind of wildcards that no receive has used before.
void matching::list_all(unsigned kind) {
  messages_by_key_[kind].reserve(messages_ + 1);
  for (queue_link* l = in_order_.first; l != nullptr; l = l->behind) list(in_order(l), kind);
  used_kinds_ |= 1U << kind;
}

}  // namespace shoal::rank
