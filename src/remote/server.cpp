// SPDX-License-Identifier: Apache-2.0
#include "remote/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include "noise/injection.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::remote {

server::server(net::domain& domain, std::uint32_t nodes, std::byte* segment, std::uint64_t segment_bytes,
               bool exclusive, const aggregate::overflow_memory* overflow)
    : domain_(domain),
      nodes_(nodes),
      handlers_(handlers(exclusive)),
      peers_(std::size_t{nodes} * 2),
      entries_(std::size_t{nodes} * 2),
      handlers_watched_(entries_.data()),
      tasks_watched_(entries_.data() + nodes),
      overflow_(overflow) {
  static_assert(std::is_trivially_destructible_v<peer>);
  serving_.base = segment;
  serving_.capacity_bytes = segment_bytes;
}

void server::announced(std::uint32_t node, net::traffic t) noexcept {
  const bool by_handlers = t == net::traffic::handler_request;
  peer& p = peers_[by_handlers ? node : std::size_t{nodes_} + node];
  if (p.requests == nullptr) {
    new (&p) peer;
    p.node = node;
    p.requests = &domain_.in(node, t);
    p.replies.attach(domain_.out(node, by_handlers ? net::traffic::handler_reply : net::traffic::reply), p.reply_stream,
                     counts_.replies, node);
  }
  if (std::exchange(p.watched, true)) return;  // told again
  p.looks_in_vain = 0;
  p.requests->watch();
  (by_handlers ? handlers_watched_ : tasks_watched_).add(p);
}

namespace {

[[noreturn, gnu::cold, gnu::noinline]] void refuse(std::uint32_t node, std::uint64_t header) noexcept {
  const std::string message = fmt::format(
      "node {} has sent a command that no node sends (operation {}, place {:#x}): it points out of the memory, "
      "names no function, or is cut off; start the same program on all nodes",
      node, detail::operation_of(header), detail::offset_of(header));
  detail::assertion_failed(message.c_str(), __FILE__, __LINE__, __func__);
}

trace::event_ring* events_of(detail::worker_base& w) noexcept {
  const sched::profile_recorder* const p = static_cast<sched::worker&>(w).profile();
  return p == nullptr ? nullptr : p->events();
}

}  // namespace

bool server::pending() const noexcept {
  const auto has_something = [](const peer& p) { return p.requests->seems_available(); };
  return domain_.announced() || handlers_watched_.seems(has_something) || tasks_watched_.seems(has_something);
}

bool server::serve(detail::worker_base* w) noexcept {
  if (domain_.announced()) {
    handlers_watched_.begin_change();
    tasks_watched_.begin_change();
    domain_.take_announced(*this);
    tasks_watched_.end_change();
    handlers_watched_.end_change();
  }
  // What handlers send is executed always, so that it does not wait for anything that tasks do.
  bool any = serve_all(handlers_watched_, nullptr, w);
  // A trace has what tasks send: of the rest it would have one end only.
  counts_.replies.events = w == nullptr || overflow_ == nullptr ? nullptr : events_of(*w);
  any |= serve_all(tasks_watched_, overflow_, w);
  counts_.replies.events = nullptr;
  return any;
}

bool server::serve_all(peers& watched, const aggregate::overflow_memory* limit, detail::worker_base* w) noexcept {
  bool any = false;
  for (std::size_t i = 0; i < watched.size();) {
    peer& p = watched[i];
    if (serve_peer(p, limit, w)) {
      any = true;
      p.looks_in_vain = 0;
    } else if (++p.looks_in_vain >= k_most_looks) [[unlikely]] {
      p.looks_in_vain = 0;
      if (p.requests->unwatch()) {
        p.watched = false;
        watched.begin_change();
        watched.remove(i);
        watched.end_change();
        continue;
      }
    }
    ++i;
  }
  return any;
}

bool server::serve_peer(peer& p, const aggregate::overflow_memory* limit, detail::worker_base* w) noexcept {
  const std::uint32_t node = p.node;
  bool any = false;
  for (int buffers = 0; buffers < k_most_buffers; ++buffers) {
    const auto buffer = p.requests->front();
    if (buffer.empty()) break;
    serving_.worker = w;
    serving_.from = node;
    serving_.overflow = limit;
    serving_.replies = &p.replies;
    serving_.reply_stream = &p.reply_stream;
    const std::uint64_t* at = buffer.data() + p.position;
    const std::uint64_t* const end = buffer.data() + buffer.size();
    if (p.position == 0)
      for (const std::uint64_t* ahead = at; ahead < std::min(at + k_prefetch_words, end); ++ahead)
        __builtin_prefetch(serving_.base + detail::offset_of(*ahead), 1);
    while (at < end) {
      const std::uint64_t* reached = handlers_[detail::operation_of(*at)](serving_, at, end);
      if (reached == nullptr) [[unlikely]]
        refuse(node, *at);
      any |= reached != at;
      // Between two calls a handler is stopped by another operation, by the end, or by the want of room for a
      // reply, or of a worker.
      if (reached == at) break;
      at = reached;
    }
    if (at < end) {
      p.position = static_cast<std::size_t>(at - buffer.data());
      if (w != nullptr) ++counts_.stalls;
      break;
    }
    p.position = 0;
    // Of what handlers send only the receiver would have an event.
    if (counts_.replies.events != nullptr && limit != nullptr) [[unlikely]]
      counts_.replies.events->add(trace::event_kind::receive, worker_, node,
                                  trace::message_value(buffer.size() * 8, p.taken));
    ++p.taken;
    ++counts_.buffers;
    any = true;
    p.requests->release();
  }
  const std::uint64_t executed = std::exchange(serving_.executed, 0);
  counts_.commands += executed;
  noise::passes(noise::injected_at::operation, executed);
  // Whoever sent these requests may be waiting for nothing else.
  p.replies.publish(aggregate::reason::idle);
  return any;
}

}  // namespace shoal::remote
