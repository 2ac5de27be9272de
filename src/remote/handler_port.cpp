// SPDX-License-Identifier: Apache-2.0
#include "remote/handler_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/demangle.hpp"
#include "base/rough_time.hpp"
#include "machine/memory_info.hpp"
#include "remote/code.hpp"
#include "remote/exhausted.hpp"
#include "remote/replies.hpp"
#include "shoal/detail/message.hpp"

namespace shoal::remote {
namespace {

constexpr int k_most_own_blocks = 8;  // per poll
constexpr std::uint64_t k_quiet_ticks = 10'000 * base::rough_time::k_per_ns;

const char* refused(detail::wait_kind why) noexcept {
  using detail::wait_kind;
  switch (why) {
    case wait_kind::none: return "yields";
    case wait_kind::mutex: return "waits for a mutex";
    case wait_kind::condition: return "waits for a condition_variable";
    case wait_kind::semaphore: return "waits for a semaphore";
    case wait_kind::shared_mutex: return "waits for a shared_mutex";
    case wait_kind::barrier: return "waits for a barrier";
    case wait_kind::latch: return "waits for a latch";
    case wait_kind::children: return "waits for tasks that it has spawned";
    case wait_kind::graph: return "waits for a graph or flow";
    case wait_kind::operations: return "waits for a call or a remote loop (on(), quiesce(), parallel_for)";
    case wait_kind::future: return "waits for a future";
    case wait_kind::promise: return "waits for a promise";
    case wait_kind::loop: return "waits for its loop";
    case wait_kind::credit: return "waits for a node to begin earlier calls";
    case wait_kind::time: return "sleeps, or waits with a time limit";
    case wait_kind::collective: return "waits for the other members of a team";
    case wait_kind::lock: return "waits for a lock of shoal/locks.hpp";
    default: return "waits";
  }
}

}  // namespace

struct handler_port::tables {
  explicit tables(std::uint32_t nodes) : bases(nodes), hot(nodes), peers(nodes) {}
  tables(const tables&) = delete;
  tables& operator=(const tables&) = delete;
  ~tables() {
    while (made != nullptr) {
      peer& p = *made;
      made = p.made_before;
      std::destroy_at(&hot[static_cast<std::size_t>(&p - peers.data())]);
      std::destroy_at(&p);
    }
  }
  machine::zero_array<std::byte*> bases;
  machine::zero_array<detail::peer_port> hot;
  machine::zero_array<peer> peers;
  peer* made = nullptr;  // the last one
};

handler_port::handler_port(net::domain& domain, detail::node_context& of, bool is_exclusive,
                           aggregate::overflow_memory& memory)
    : domain_(domain), memory_(memory), active_(of.nodes) {
  context = &of;
  node = of.node;
  nodes = of.nodes;
  handlers = this;
  if (is_exclusive) unusual = detail::k_exclusive;
}

handler_port::~handler_port() = default;

void handler_port::prepare() {
  tables_ = std::make_unique<tables>(nodes);
  tables_->bases[node] = context->bases[node];
  bases = tables_->bases.data();
  peers = tables_->hot.data();
  tables_for_others_.store(tables_.get(), std::memory_order_release);
}

handler_port::peer& handler_port::make(std::uint32_t to) noexcept {
  auto& hot = *new (&peers[to]) detail::peer_port;
  auto& p = *new (&tables_->peers[to]) peer;
  net::out_channel& channel = domain_.out(to, net::traffic::handler_request);
  p.requests.attach(to == node ? nullptr : &channel, channel.capacity_words(), hot.requests, flushes_, memory_);
  if (to != node) p.replies = {&domain_.in(to, net::traffic::handler_reply), to};
  p.made = true;
  p.made_before = std::exchange(tables_->made, &p);
  return p;
}

void handler_port::make_room(std::uint32_t to, std::size_t words) noexcept {
  peer& p = tables_->peers[to].made ? tables_->peers[to] : make(to);
  if (!std::exchange(p.active, true)) active_.push(to);
  if (!p.requests.make_room(words)) exhausted();
}

bool handler_port::is_quiet(std::uint32_t to) const noexcept {
  const peer& p = tables_->peers[to];
  return peers[to].requests.cursor == nullptr && peers[to].replies.empty() && !p.requests.in_memory() &&
         p.requests.reached(p.requests.mark()) && p.settling.empty();
}

bool handler_port::poll(sched::worker& w) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < active_.size();) {  // handlers may add to it
    const std::uint32_t n = active_[i];
    peer& p = tables_->peers[n];
    if (n == node) {
      any |= run_own_calls(w);
    } else {
      any |= p.requests.in_memory() && p.requests.drain();
      if (!peers[n].replies.empty()) any |= take_replies(w, peers[n].replies, p.replies, nullptr);
    }
    any |= p.settling.fire_ready(p.requests, peers[n].replies.popped());
    // A handler that polls may have taken it out.
    if (p.active && is_quiet(n) && i < active_.size() && active_[i] == n) {
      p.active = false;
      active_.take_out(i);
    } else {
      ++i;
    }
  }
  return any;
}

// Not within a handler: one that polls would run others on its stack.
bool handler_port::run_own_calls(sched::worker& w) noexcept {
  if (handler_depth != 0) return false;
  aggregate::overflow_outbox& own = tables_->peers[node].requests;
  bool any = false;
  for (int blocks = 0; blocks < k_most_own_blocks; ++blocks) {
    aggregate::overflow_outbox::block* const b = own.take_block();
    if (b == nullptr) break;
    const std::uint64_t* at = b->data();
    for (const std::uint64_t* const end = at + b->words; at < end;) {
      const auto words = static_cast<std::size_t>(detail::small_of(*at));
      decode_receiver(detail::offset_of(*at))({w, node, {at + 1, words}});
      at += 1 + words;
    }
    own.end_block(b);
    any = true;
  }
  return any;
}

bool handler_port::pending() noexcept {
  for (const std::uint32_t n : active_) {
    peer& p = tables_->peers[n];
    if (n != node && !peers[n].replies.empty() && p.replies.channel->seems_available()) return true;
    if (n == node ? p.requests.in_memory() : p.requests.can_drain()) return true;
    if (p.settling.ready(p.requests, peers[n].replies.popped())) return true;
  }
  return false;
}

bool handler_port::flush(aggregate::reason why) noexcept {
  bool any = false;
  for (const std::uint32_t n : active_)
    if (n != node) any |= tables_->peers[n].requests.publish(why);
  return any;
}

void handler_port::send_awaited(std::uint64_t now, std::uint64_t old_ticks) noexcept {
  for (const std::uint32_t n : active_) {
    peer& p = tables_->peers[n];
    if (n == node || !p.requests.has_content()) continue;
    const std::uint64_t* const cursor = peers[n].requests.cursor;
    if (p.cursor_seen == nullptr || cursor < p.cursor_seen) p.since = now;  // another buffer, most likely
    if (std::exchange(p.cursor_seen, cursor) != cursor) p.changed = now;
    if (now - p.changed < k_quiet_ticks && now - p.since < old_ticks) continue;
    p.requests.publish(aggregate::reason::old);
    p.cursor_seen = nullptr;
  }
}

bool handler_port::wake_deputies() noexcept {
  bool any = false;
  for (const std::uint32_t n : active_) any |= tables_->peers[n].requests.wake_deputy() != net::deputy::impossible;
  return any;
}

bool handler_port::settled(std::uint32_t to, stream_waiter& w) noexcept {
  peer& p = tables_->peers[to];  // active, as who asks has seen
  if (to != node) p.requests.publish(aggregate::reason::asked);
  w.executed_mark = p.requests.mark();
  w.reply_mark = peers[to].replies.mark();
  if (p.requests.reached(w.executed_mark) && peers[to].replies.popped() >= w.reply_mark) return true;
  p.settling.append(w);
  return false;
}

bool handler_port::unsettled(std::uint32_t to) const noexcept {
  const tables* const known = tables_for_others_.load(std::memory_order_acquire);
  if (known == nullptr || !known->peers[to].active) return false;
  const aggregate::overflow_outbox& out = known->peers[to].requests;
  return !known->hot[to].replies.empty() || !out.reached(out.mark());
}

bool handler_port::in_flight() const noexcept {
  return std::ranges::any_of(active_, [this](std::uint32_t n) { return unsettled(n); });
}

void handler_port::refuse(const char* what) const noexcept {
  const std::string text = fmt::format("a handler {}; the handler is {}", what, base::demangled(handler));
  detail::assertion_failed(text.c_str(), __FILE__, __LINE__, __func__);
}

void handler_port::refuse_wait(detail::wait_kind why) const noexcept {
  refuse(
      fmt::format("{}. It must not wait: it may use async_ verbs and async_at on all nodes, and bare verbs on elements "
                  "of its own node; let the task that waits for the end call shoal::quiesce()",
                  refused(why))
          .c_str());
}

void handler_port::exhausted() const noexcept {
  end_as_exhausted(
      fmt::format("the handler {} sends more than other nodes execute: {} of commands wait "
                  "here for room in buffers, as many as SHOAL_OVERFLOW_MEMORY allows; raise it, or "
                  "let handlers send less",
                  base::demangled(handler), machine::describe_bytes(memory_.limit_bytes())));
}

}  // namespace shoal::remote
