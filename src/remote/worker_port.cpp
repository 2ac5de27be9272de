// SPDX-License-Identifier: Apache-2.0
#include "remote/worker_port.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "fiber/sanitizer.hpp"
#include "machine/futex.hpp"
#include "remote/replies.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::remote {

using detail::reply_kind;
using detail::reply_list;

worker_port::worker_port(net::domain& domain, server& serving, detail::node_context& of, bool is_exclusive,
                         aggregate::overflow_memory& overflow)
    : serving_(serving),
      handler_port_(domain, of, is_exclusive, overflow),
      overflow_(overflow),
      hot_(of.nodes),
      peers_(of.nodes),
      active_(of.nodes),
      awaited_(of.nodes),
      domain_(domain),
      mail_(domain.mail(), of.node) {
  context = &of;
  handlers = &handler_port_;
  bases = of.bases;
  peers = hot_.data();
  node = of.node;
  nodes = of.nodes;
  if (is_exclusive) unusual = detail::k_exclusive;
}

worker_port::~worker_port() {
  while (made_ != nullptr) {
    peer& p = *made_;
    made_ = p.made_before;
    std::destroy_at(&hot_[p.replies.node]);
    std::destroy_at(&p);
  }
}

worker_port::peer& worker_port::known(std::uint32_t to) noexcept {
  if (!peers_[to].made) [[unlikely]]
    make(to);
  return peers_[to];
}

void worker_port::make(std::uint32_t to) noexcept {
  auto& hot = *new (&hot_[to]) detail::peer_port;
  auto& p = *new (&peers_[to]) peer;
  p.requests.attach(domain_.out(to, net::traffic::request), hot.requests, flushes_, to);
  p.replies = {&domain_.in(to, net::traffic::reply), to};
  p.made = true;
  p.made_before = std::exchange(made_, &p);
}

// Before anything is written, waited for, or opened.
void worker_port::activate(std::uint32_t to, peer& p) noexcept {
  if (std::exchange(p.active, true)) return;
  active_.push(to);
}

// Nothing is open, in flight or waited for: the next command asks for room, and activates the peer again.
bool worker_port::is_quiet(std::uint32_t to) const noexcept {
  const detail::peer_port& hot = hot_[to];
  if (hot.requests.cursor != nullptr || !hot.replies.empty()) return false;
  const peer& p = peers_[to];
  return p.requests.done() == p.requests.posted() && p.settling.empty() && p.settling_in_tasks.empty() &&
         p.for_room == nullptr;
}

bool worker_port::poll_peers(sched::worker& w) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < active_.size();) {  // what is woken may add to it
    const std::uint32_t n = active_[i];
    if (!hot_[n].replies.empty()) any |= take_replies(w, hot_[n].replies, peers_[n].replies, flushes_.events);
    any |= wake_waiters(w, n);
    if (is_quiet(n) && active_[i] == n) {
      peers_[n].active = false;
      active_.take_out(i);
    } else {
      ++i;
    }
  }
  return any;
}

bool worker_port::poll(sched::worker& w) noexcept {
  if ((unusual.load(std::memory_order_relaxed) & detail::k_attention) != 0) [[unlikely]] {
    unusual.fetch_and(static_cast<std::uint8_t>(~detail::k_attention), std::memory_order_relaxed);
    flush(aggregate::reason::old);
  }
  bool any = mail_.poll(w);
  if (any && ++mail_polls_ % k_mail_polls != 0) return true;  // more may follow
  any |= domain_.progress();
  any |= poll_peers(w);
  any |= handler_port_.poll(w);
  if (!transfers_.empty()) any |= transfers_.end();
  // Held: by a sibling, or further up on this stack, by what is executed in place and looks at the messages itself.
  if (serving_.try_hold()) {
    const bool served = serving_.serve(&w);
    serving_.let_go();
    if (served) domain_.progress();  // who sent it hears of it before the next task
    any |= served;
  }
  if (overflow_.holds_tasks() != holds_tasks_) [[unlikely]] {
    hold_tasks(!holds_tasks_);
    any = true;
  }
  return any;
}

// Commands of handlers are in memory, or no longer: tasks write no more commands to other nodes until they are sent.
void worker_port::hold_tasks(bool held) noexcept {
  holds_tasks_ = held;
  if (held) {
    for (const std::uint32_t n : active_) peers_[n].requests.close();
    return;
  }
  for (stream_waiter* w = std::exchange(held_, nullptr); w != nullptr;) {
    stream_waiter* const next = w->next;
    w->fire(*w);
    w = next;
  }
}

bool worker_port::pending() noexcept {
  if (domain_.pending() || serving_.pending()) return true;
  if (transfers_.ready() || mail_.pending()) return true;
  for (const std::uint32_t n : active_) {
    peer& p = peers_[n];
    if (!hot_[n].replies.empty() && p.replies.channel->seems_available()) return true;
    if (p.for_room != nullptr && p.requests.can_open()) return true;
    if (p.settling.ready(p.requests, hot_[n].replies.popped())) return true;
    if (p.settling_in_tasks.ready(p.requests, hot_[n].replies.popped())) return true;
  }
  return (held_ != nullptr && !overflow_.holds_tasks()) || handler_port_.pending();
}

void worker_port::flush(aggregate::reason why) noexcept {
  detail::drain_window(*this);
  if (why != aggregate::reason::old) write_withheld(passes_needed());  // as far as there is room
  if (why == aggregate::reason::idle) deputies_ns_ = k_first_deputies_ns;
  for (const std::uint32_t n : active_)
    if (peers_[n].requests.publish(why)) hot_[n].awaited = false;
  handler_port_.flush(why);
}

void worker_port::await_buffer(std::uint32_t to) noexcept {
  hot_[to].awaited = true;
  if (!std::exchange(peers_[to].listed, true)) awaited_.push({.node = to});
}

// Where nothing was executed since the last look. A node that executes needs no deputy.
void worker_port::wake_deputies() noexcept {
  for (const std::uint32_t n : active_) {
    peer& p = peers_[n];
    const std::uint64_t done = p.requests.done();
    if (std::exchange(p.done_seen, done) == done) p.requests.wake_deputy();
  }
  handler_port_.wake_deputies();
}

void worker_port::send_awaited(std::uint64_t now) noexcept {
  handler_port_.send_awaited(now, old_ticks_);
  if (now - deputies_looked_ >= k_deputies_ticks) {
    deputies_looked_ = now;
    wake_deputies();
  }
  for (std::size_t looks = std::min(awaited_.size(), k_most_looks); looks > 0; --looks) {
    if (next_look_ >= awaited_.size()) next_look_ = 0;
    awaited_stream& s = awaited_[next_look_];
    aggregate::outbox& out = peers_[s.node].requests;
    const std::uint64_t* const cursor = hot_[s.node].requests.cursor;
    const bool another = std::exchange(s.posted, out.posted()) != out.posted() || s.since == 0;
    if (another) s.since = now;
    if (std::exchange(s.cursor, cursor) != cursor || another) s.changed = now;
    const bool waits = hot_[s.node].awaited && out.has_content();
    // While buffers are in flight, their replies may wake tasks that add to this one.
    const bool quiet = now - s.changed >= k_quiet_ticks && out.done() == out.posted();
    if (waits && !quiet && now - s.since < old_ticks_) {
      ++next_look_;
      continue;
    }
    if (waits) out.publish(aggregate::reason::old);
    hot_[s.node].awaited = false;
    peers_[s.node].listed = false;
    awaited_.take_out(next_look_);
  }
}

bool worker_port::wake_waiters(sched::worker& worker, std::uint32_t of) noexcept {
  peer& p = peers_[of];
  bool any = p.settling.fire_ready(p.requests, hot_[of].replies.popped());
  any |= p.settling_in_tasks.wake_ready(p.requests, hot_[of].replies.popped(),
                                        [&worker](fiber::fiber& f) { worker.make_ready_here(f, 0); });
  if (p.for_room != nullptr && p.requests.can_open()) {
    for (stream_waiter* w = std::exchange(p.for_room, nullptr); w != nullptr;) {
      stream_waiter* next = w->next;
      w->fire(*w);
      w = next;
    }
    any = true;
  }
  return any;
}

std::int64_t worker_port::longest_sleep_ns() noexcept {
  constexpr std::int64_t k_transfer_look_ns = 50'000;
  std::int64_t longest_ns = domain_.longest_sleep_ns();
  const auto limit = [&longest_ns](std::int64_t ns) { longest_ns = longest_ns < 0 ? ns : std::min(longest_ns, ns); };
  if (!transfers_.empty()) limit(k_transfer_look_ns);
  if (mail_.anyone_waits()) limit(mailbox::k_room_look_ns);
  bool again = handler_port_.wake_deputies();
  for (const std::uint32_t n : active_) again |= peers_[n].requests.wake_deputy() != net::deputy::impossible;
  if (again) {
    limit(deputies_ns_);
    deputies_ns_ = std::min(2 * deputies_ns_, k_last_deputies_ns);
  }
  return longest_ns;
}

namespace {

constexpr const char* k_too_small_buffer = "a command is larger than a buffer; raise SHOAL_BUFFER";

struct waiting_task final : stream_waiter {
  waiting_task() noexcept {
    task = detail::this_task();
    fire = [](stream_waiter& w) noexcept { detail::wake(static_cast<waiting_task&>(w).task); };
  }
  detail::suspended* task;
};

}  // namespace

template <class Start>
bool worker_port::begin_transfer(const Start& start) {
  const fiber::tsan_ignore_scope ignore;
  while (transfers_.full()) wait_for_transfers(transfers_.oldest_mark());
  if (transfers_.begin(start)) return true;
  if (!std::exchange(told_of_refusal_, true))
    base::verbose("the network library refuses a copy from memory to memory; such copies go by messages");
  return false;
}

bool worker_port::put_by_network(std::uint32_t to, std::uint64_t offset, const void* from, std::size_t bytes) {
  return begin_transfer([&](std::atomic<bool>& done) { return domain_.put(to, offset, from, bytes, done); });
}

bool worker_port::get_by_network(std::uint32_t from, std::uint64_t offset, void* to, std::size_t bytes) {
  return begin_transfer([&](std::atomic<bool>& done) { return domain_.get(from, offset, to, bytes, done); });
}

void worker_port::wait_for_transfers(std::uint64_t mark) {
  const fiber::tsan_ignore_scope ignore;
  transfers_.end();  // some end when they are begun
  if (transfers_.reached(mark)) return;
  waiting_task me;
  me.executed_mark = mark;
  transfers_.append(me);
  detail::leave(detail::wait_kind::transfer);
}

void worker_port::make_room(std::uint32_t to, std::size_t words) {
  const fiber::tsan_ignore_scope ignore;
  peer& p = known(to);
  aggregate::outbox& out = p.requests;
  SHOAL_ASSERT(words <= out.capacity_words(), k_too_small_buffer);
  hot_[to].awaited = false;  // the open buffer goes; nobody waits for the next one yet
  constexpr int k_polls_before_leaving = 16;
  for (int tries = 0; overflow_.holds_tasks() || !out.make_room(words); ++tries) {
    // The open buffers for other nodes may hold what large commands share.
    if (tries == 0 && !overflow_.holds_tasks() && words > out.own_words()) flush(aggregate::reason::asked);
    // The receiver is slow. It may wait for this node to serve its requests.
    if (sched::this_worker()->poll()) continue;
    if (tries < k_polls_before_leaving) {
      machine::pause();
      continue;
    }
    waiting_task me;
    when_room(to, me);
    detail::leave(detail::wait_kind::room, detail::numbered(to));
    tries = 0;
  }
  activate(to, p);
  hot_[to].growing = 0;
}

bool worker_port::try_make_room(std::uint32_t to, std::size_t words) noexcept {
  peer& p = known(to);
  SHOAL_ASSERT(words <= p.requests.capacity_words(), k_too_small_buffer);
  if (overflow_.holds_tasks()) return false;
  hot_[to].awaited = false;  // as above
  if (!p.requests.make_room(words)) return false;
  activate(to, p);
  hot_[to].growing = 0;
  return true;
}

void worker_port::when_room(std::uint32_t to, stream_waiter& w) noexcept {
  peer& p = known(to);
  if (!holds_tasks_) activate(to, p);
  stream_waiter*& list = holds_tasks_ ? held_ : p.for_room;
  w.next = list;
  list = &w;
}

bool worker_port::settled(std::uint32_t to, stream_waiter& w) noexcept {
  peer& p = peers_[to];
  if (!p.active) return true;
  w.executed_mark = p.requests.mark();
  w.reply_mark = hot_[to].replies.mark();
  if (p.requests.reached(w.executed_mark) && hot_[to].replies.popped() >= w.reply_mark) return true;
  if (!hot_[to].awaited && p.requests.has_content()) await_buffer(to);
  p.settling.append(w);
  return false;
}

void worker_port::settle(std::uint32_t to) {
  peer& p = peers_[to];
  if (!p.active) return;
  const std::uint64_t executed = p.requests.mark();
  const std::uint64_t replied = hot_[to].replies.mark();
  if (p.requests.reached(executed) && hot_[to].replies.popped() >= replied) return;
  p.settling_in_tasks.reserve();
  if (!hot_[to].awaited && p.requests.has_content()) await_buffer(to);
  sched::worker& w = *sched::this_worker();
  p.settling_in_tasks.append({executed, replied, w.current()});
  w.leave(detail::wait_kind::settling);
}

bool worker_port::unsettled(std::uint32_t to) const noexcept {
  const peer& p = peers_[to];
  return p.active && (!hot_[to].replies.empty() || !p.requests.reached(p.requests.mark()));
}

bool worker_port::in_flight() const noexcept {
  const fiber::tsan_ignore_scope ignore;
  if (!transfers_.empty() || mail_.in_flight() || window_drained != window_next) return true;
  for (const std::uint32_t n : active_)
    if (unsettled(n)) return true;
  return handler_port_.in_flight();
}

}  // namespace shoal::remote
