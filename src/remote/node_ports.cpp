// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>

#include "remote/code.hpp"
#include "remote/worker_port.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::remote {
namespace {

struct node_fence final : settling {
  sched::fence_request* request = nullptr;
};

}  // namespace

// Transfers are begun by the other nodes, whose limit for them is the same (config::common).
bool node_ports::is_exclusive(const setup& s) {
  const bool written_by_network = s.transport->at(0).one_sided() && s.by_network_bytes <= s.segment_bytes;
  return s.workers == 1 && s.request_threads == 0 && !s.mapped_elsewhere && !written_by_network;
}

node_ports::node_ports(const setup& s)
    : transport_(*s.transport),
      overflow_(s.overflow_bytes),
      credits_(s.context->nodes, s.call_bytes, overflow_),
      by_network_bytes_(s.by_network_bytes),
      calls_(s.workers),
      next_looks_(s.workers) {
  s.context->calls = &calls_;
  detail::node_context& c = *s.context;
  c.ports = this;
  const bool exclusive = is_exclusive(s);
  for (unsigned w = 0; w < s.workers; ++w) {
    net::domain& domain = transport_.at(w);
    servers_.push_back(
        std::make_unique<server>(domain, c.nodes, c.bases[c.node], s.segment_bytes, exclusive, &overflow_));
    servers_.back()->belongs_to(w);
    ports_.push_back(std::make_unique<worker_port>(domain, *servers_.back(), c, exclusive, overflow_));
    ports_.back()->send_after_us(s.send_after_us);
  }
}

void node_ports::attach(sched::worker& w) noexcept {
  w.port = ports_[w.index].get();
  w.refuse_wait = [](sched::worker& of, detail::wait_kind why) noexcept {
    static_cast<handler_port&>(*of.port).refuse_wait(why);
  };
  workers_.push_back(&w);
  w.async_issued = &ports_[w.index]->async_issued;
  net::domain& domain = transport_.at(w.index);
  if (domain.one_sided()) ports_[w.index]->by_network_bytes = by_network_bytes_;
  if (domain.bell() != nullptr) w.use_doorbell(*domain.bell(), domain.bell_is_shared());
}

bool node_ports::poll(sched::worker& w) noexcept {
  const bool any = port_of(w).poll(w);
  if (overflow_.has_ended()) [[unlikely]]
    ring_siblings(w);
  return any;
}

// Their tasks may write again.
void node_ports::ring_siblings(const sched::worker& w) noexcept {
  if (!overflow_.take_end()) return;
  for (sched::worker* const sibling : workers_)
    if (sibling != &w) sibling->ring();
}

std::uint64_t node_ports::begun_by_handlers() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& p : ports_) sum += p->for_handlers().noted_issued();
  return sum;
}

void node_ports::send_awaited(sched::worker& w, std::uint64_t now) noexcept { port_of(w).send_awaited(now); }

bool node_ports::flush(sched::worker& w) noexcept {
  port_of(w).flush(aggregate::reason::idle);
  if (port_of(w).nodes == 1) return false;
  bool served = false;
  // Nothing to do here: see whether a sibling is too busy to look at its messages. Where there are many, some at a
  // time; who waits for one of the others wakes deputies until it is served.
  const std::size_t all = servers_.size();
  std::size_t& next = next_looks_[w.index];
  for (std::size_t looks = std::min(all - 1, k_most_sibling_looks); looks > 0; --looks) {
    const auto i = static_cast<unsigned>((w.index + 1 + next) % all);
    next = (next + 1) % (all - 1);
    transport_.at(i).progress();
    server& s = *servers_[i];
    if (!s.pending() || !s.try_hold()) continue;
    const bool some = s.serve(&w);
    s.let_go();
    if (some) transport_.at(i).progress();  // who sent it hears of it
    served |= some;
  }
  return served;
}

bool node_ports::pending(sched::worker& w) noexcept { return port_of(w).pending(); }

std::int64_t node_ports::longest_sleep_ns(sched::worker& w) noexcept { return port_of(w).longest_sleep_ns(); }

bool node_ports::fence(sched::worker& w, sched::fence_request& request) noexcept {
  const detail::tsan_ignore_scope ignore;  // the worker's own lists, which all its stacks touch in turn
  worker_port& port = port_of(w);
  detail::drain_window(port);
  static_assert(sizeof(node_fence) <= sched::fence_request::k_room_bytes && alignof(node_fence) <= alignof(void*));
  auto* const f = new (request.room.data()) node_fence;
  f->request = &request;
  f->done = [](settling& s) noexcept {
    auto& self = static_cast<node_fence&>(s);
    sched::fence_request& of = *self.request;
    self.~node_fence();
    of.done(of);
  };
  port.for_handlers().note_issued(wave_.load(std::memory_order_relaxed));
  const bool complete = f->begin(port, true);
  if (complete) f->~node_fence();
  return complete;
}

bool node_ports::in_flight(sched::worker& w) noexcept { return port_of(w).in_flight(); }

}  // namespace shoal::remote

namespace shoal::detail {

std::uint64_t code_of(receiver function) { return remote::encode_body(function); }

void send(worker_base& w, std::uint32_t node, receiver function, std::span<const std::uint64_t> payload) {
  if (node == w.port->node) {
    function.run()({w, node, payload});
    return;
  }
  SHOAL_ASSERT(payload.size() <= k_most_payload_words, "a message is too long");
  const tsan_ignore_scope ignore;
  stream& s = begin_message(w, node, code_of(function), payload.size());
  for (const std::uint64_t word : payload) *s.cursor++ = word;
}

}  // namespace shoal::detail
