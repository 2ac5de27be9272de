// SPDX-License-Identifier: Apache-2.0
#include "remote/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "noise/injection.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/assert.hpp"

namespace shoal::remote {

server::server(net::domain& domain, std::uint32_t node, std::uint32_t nodes, std::byte* segment,
               std::uint64_t segment_bytes, bool exclusive, const aggregate::overflow_memory* overflow)
    : node_(node), handlers_(handlers(exclusive)), peers_(nodes), handler_peers_(nodes), overflow_(overflow) {
  serving_.base = segment;
  serving_.capacity_bytes = segment_bytes;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    peers_[n].requests = &domain.in(n, net::traffic::request);
    peers_[n].replies.attach(domain.out(n, net::traffic::reply), peers_[n].reply_stream, counts_.replies, n);
    peer& h = handler_peers_[n];
    h.requests = &domain.in(n, net::traffic::handler_request);
    h.replies.attach(domain.out(n, net::traffic::handler_reply), h.reply_stream, counts_.replies, n);
  }
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

bool server::serve(detail::worker_base* w) noexcept {
  bool any = false;
  // What handlers send is executed always, so that it does not wait for anything that tasks do.
  for (std::uint32_t n = 0; n < peers_.size(); ++n)
    if (n != node_) any |= serve_peer(handler_peers_[n], n, nullptr, w);
  // A trace has what tasks send: of the rest it would have one end only.
  counts_.replies.events = w == nullptr || overflow_ == nullptr ? nullptr : events_of(*w);
  for (std::uint32_t n = 0; n < peers_.size(); ++n)
    if (n != node_) any |= serve_peer(peers_[n], n, overflow_, w);
  counts_.replies.events = nullptr;
  return any;
}

bool server::serve_peer(peer& p, std::uint32_t node, const aggregate::overflow_memory* limit,
                        detail::worker_base* w) noexcept {
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
