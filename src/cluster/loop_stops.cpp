// SPDX-License-Identifier: Apache-2.0
#include "cluster/loop_stops.hpp"

#include <optional>
#include <vector>

#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/completion.hpp"
#include "shoal/detail/loop_shares.hpp"
#include "shoal/detail/loop_stop.hpp"
#include "shoal/detail/message.hpp"
#include "shoal/detail/port.hpp"

namespace shoal::cluster {

std::stop_token loop_stops::enter(key k) {
  const std::lock_guard guard(lock_);
  loop& l = loops_[k];
  ++l.shares;
  return l.source.get_token();
}

void loop_stops::leave(key k) noexcept {
  const std::lock_guard guard(lock_);
  const auto at = loops_.find(k);
  if (--at->second.shares == 0 && !at->second.source.stop_requested()) loops_.erase(at);
}

void loop_stops::forget(key k) noexcept {
  const std::lock_guard guard(lock_);
  loops_.erase(k);
}

void loop_stops::request(key k) {
  const std::lock_guard guard(lock_);
  loops_[k].source.request_stop();  // no callback is registered with it
}

std::size_t loop_stops::size() const {
  const std::lock_guard guard(lock_);
  return loops_.size();
}

}  // namespace shoal::cluster

namespace shoal::detail {
namespace {

cluster::loop_stops& stops_of(const port& p) noexcept { return *p.context->stops; }

void receive_stop(const arrival& a) noexcept { stops_of(*a.worker.port).request({a.from, a.payload[0]}); }

void receive_forget(const arrival& a) noexcept { stops_of(*a.worker.port).forget({a.from, a.payload[0]}); }

}  // namespace

// The stop callback may run on any thread and must not wait, so it begins a task that sends the messages.
struct stop_forwarding::state final : sched::errand {
  state(const std::stop_token& token, const loop_shares& all) : pool(sched::this_worker()->owner()) {
    const port& p = this_port();
    id = stops_of(p).new_id();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (all.node(i) != p.node) nodes.push_back(all.node(i));
    run = [](task& t) noexcept {
      auto& self = static_cast<state&>(static_cast<sched::errand&>(t));
      self.tell(receiver_of<receive_stop>());
      self.sent.done();
    };
    if (!nodes.empty()) watch.emplace(token, on_stop{*this});
  }

  // Returns when all nodes have executed it.
  void tell(receiver message) noexcept {
    for (const std::uint32_t n : nodes) send(*t_worker, n, message, {&id, 1});
    settle_all(this_port());
  }

  struct on_stop {
    state& of;
    void operator()() const noexcept {
      of.requested = true;
      of.pool.submit(of);
    }
  };

  sched::pool& pool;
  std::uint64_t id = 0;
  std::vector<std::uint32_t> nodes;
  completion sent;
  bool requested = false;  // written by the callback; read after the callback has ended
  std::optional<std::stop_callback<on_stop>> watch;
};

stop_forwarding::stop_forwarding(const std::stop_token& token, const loop_shares& all)
    : state_(std::make_unique<state>(token, all)) {}

stop_forwarding::~stop_forwarding() {
  state& s = *state_;
  s.watch.reset();  // waits for a callback that is running on another thread
  if (!s.requested) return;
  s.sent.add();
  s.sent.wait();
  // Requests may have come after the end of a share.
  s.tell(receiver_of<receive_forget>());
}

std::uint64_t stop_forwarding::id() const noexcept { return state_->id; }

share_stop::share_stop(std::uint32_t from, std::uint64_t id)
    : from_(from), id_(id), token_(stops_of(this_port()).enter({from, id})) {}

share_stop::~share_stop() { stops_of(this_port()).leave({from_, id_}); }

}  // namespace shoal::detail
