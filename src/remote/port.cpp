// SPDX-License-Identifier: Apache-2.0
// What shoal/detail/port.hpp declares, on the worker's port or that of its handlers.
#include "shoal/detail/port.hpp"

#include <utility>

#include "fiber/sanitizer.hpp"
#include "remote/worker_port.hpp"
#include "sched/movable.hpp"
#include "sched/worker.hpp"

namespace shoal::detail {

using remote::worker_port;

namespace {
using remote::handler_port;

// `p` is not that of handlers.
worker_port& whole(port& p) noexcept { return static_cast<worker_port&>(p); }

[[noreturn]] void refuse(const port& p, const char* what) noexcept { static_cast<const handler_port&>(p).refuse(what); }

constexpr const char* k_bare_verb =
    "uses a bare verb on an element of another node. It must not wait: it may use bare verbs only on elements of "
    "its own node; use an async_ verb, and shoal::quiesce() in the task that waits for the end";
constexpr const char* k_wait =
    "calls wait(). It must not wait; use shoal::quiesce() in the task that waits for the end";

}  // namespace

void prepare_handlers(port& p) { static_cast<handler_port&>(p).prepare(); }

void refuse_bare_verb(const port& p) noexcept {
  if (is_for_handlers(p)) refuse(p, k_bare_verb);
}

void reply_list::grow() {
  const std::uint64_t count = tail_ - head_;
  const std::uint64_t capacity = ring_ == nullptr ? k_initial : 2 * (mask_ + 1);
  auto larger = std::make_unique<std::uint64_t[]>(capacity);
  // Positions are absolute, since waiters remember them.
  for (std::uint64_t i = 0; i < count; ++i) larger[(head_ + i) & (capacity - 1)] = ring_[(head_ + i) & mask_];
  ring_ = std::move(larger);
  mask_ = capacity - 1;
}

void make_room(port& p, std::uint32_t node, std::size_t words) {
  if (is_for_handlers(p))
    static_cast<handler_port&>(p).make_room(node, words);
  else
    whole(p).make_room(node, words);
}

bool try_make_room(port& p, std::uint32_t node, std::size_t words) noexcept {
  return whole(p).try_make_room(node, words);
}

// What handlers have written is always waited for.
void await_buffer(port& p, std::uint32_t node) noexcept {
  if (!is_for_handlers(p)) whole(p).await_buffer(node);
}

std::uint64_t fetch(port& p, std::uint32_t node) {
  const tsan_ignore_scope ignore;
  sched::worker& w = *sched::this_worker();
  if (!p.peers[node].awaited) [[unlikely]] {  // so it is always for handlers
    refuse_bare_verb(p);
    await_buffer(p, node);
  }
  p.peers[node].replies.push(reply_kind::task, w.current());
  return w.leave(wait_kind::reply, numbered(node));
}

void settle_node(port& p, std::uint32_t node) {
  const tsan_ignore_scope ignore;
  refuse_bare_verb(p);
  whole(p).settle(node);
}

void settle_all(port& p, bool with_handlers) {
  const tsan_ignore_scope ignore;
  if (is_for_handlers(p)) refuse(p, k_wait);
  drain_window(p);
  struct of_task final : remote::settling {
    suspended* task = nullptr;
  } all;
  all.done = [](remote::settling& s) noexcept { wake(static_cast<of_task&>(s).task); };
  all.task = this_task();
  if (!all.begin(whole(p), with_handlers)) leave(wait_kind::settling);
  sched::note_settled();
}

bool put_by_network(port& p, std::uint32_t node, std::uint64_t offset, const void* from, std::size_t bytes) {
  return whole(p).put_by_network(node, offset, from, bytes);
}

bool get_by_network(port& p, std::uint32_t node, std::uint64_t offset, void* to, std::size_t bytes) {
  return whole(p).get_by_network(node, offset, to, bytes);
}

void drain_window(port& p) noexcept {
  if (p.window_drained == p.window_next) return;
  const fiber::tsan_ignore_scope ignore;
  for (std::uint64_t i = 0; i < k_window; ++i) {
    deferred_access& slot = p.window[(p.window_next + i) % k_window];
    slot.run(slot.address, slot.value, slot.target);
    slot.run = run_nothing;
  }
  p.window_drained = p.window_next;
}

void flush_all(port& p) noexcept {
  const tsan_ignore_scope ignore;
  if (is_for_handlers(p))
    static_cast<handler_port&>(p).flush(aggregate::reason::asked);
  else
    whole(p).flush(aggregate::reason::asked);
}

void poll_port(port&) noexcept { sched::this_worker()->poll(); }

}  // namespace shoal::detail
