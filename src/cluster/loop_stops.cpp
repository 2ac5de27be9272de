// SPDX-License-Identifier: Apache-2.0
#include "cluster/loop_stops.hpp"

#include <array>
#include <optional>
#include <span>

#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/call_tree.hpp"
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
  if (--at->second.shares == 0 && !at->second.requested) loops_.erase(at);
}

void loop_stops::forget(key k) noexcept {
  const std::lock_guard guard(lock_);
  loops_.erase(k);
}

void loop_stops::request(key k) {
  std::stop_source source(std::nostopstate);
  {
    const std::lock_guard guard(lock_);
    loop& l = loops_[k];
    l.requested = true;
    source = l.source;
  }
  source.request_stop();  // outside of the lock: callbacks may be registered with it
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

// The same down a tree: behind the place, the loop's key.
std::size_t stop_here(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  stops_of(this_port()).request({static_cast<std::uint32_t>(arguments[1]), arguments[2]});
  return 0;
}

std::size_t forget_loop_here(std::uint32_t, std::span<const std::uint64_t> arguments, std::uint64_t*) {
  stops_of(this_port()).forget({static_cast<std::uint32_t>(arguments[1]), arguments[2]});
  return 0;
}

}  // namespace

// The stop callback may run on any thread and must not wait, so it begins a task that sends the messages.
struct stop_forwarding::state final : sched::errand {
  state(const std::stop_token& token, const node_row& nodes, bool here_too)
      : pool(sched::this_worker()->owner()), row(nodes), asked(token) {
    const port& p = this_port();
    here = p.node;
    id = stops_of(p).new_id();
    others = row.count - (row.has(here) ? 1 : 0);
    asks_here = here_too && row.has(here);
    run = [](task& t) noexcept {
      auto& self = static_cast<state&>(static_cast<sched::errand&>(t));
      if (self.asks_here) stops_of(this_port()).request({self.here, self.id});
      self.tell(receiver_of<receive_stop>(), callee_of<stop_here>());
      self.sent.done();
    };
    if (others != 0 || asks_here) watch.emplace(token, on_stop{*this});
  }

  // Returns when all nodes have executed it.
  void tell(receiver message, callee call) noexcept {
    if (others > k_direct_nodes) return tell_by_tree(call);
    for (std::uint32_t place = 0; place < row.count; ++place)
      if (row.node(place) != here) send(*t_worker, row.node(place), message, {&id, 1});
    settle_all(this_port());
  }
  void tell_by_tree(callee call) const noexcept {
    std::array<std::uint64_t, k_tree_words + 3> words{};
    words[k_tree_words + 1] = here;
    words[k_tree_words + 2] = id;
    call_tree tree(row, call);
    completion calls;
    tree.begin(calls, words, call_tree::own_part::left_out);
    calls.wait();
    calls.take_failure();  // a node that is lost has nothing to stop
  }

  struct on_stop {
    state& of;
    void operator()() const noexcept {
      of.requested = true;
      of.pool.submit(of);
    }
  };

  sched::pool& pool;
  const node_row row;
  const std::stop_token asked;
  std::uint32_t here = 0;
  std::uint32_t others = 0;
  std::uint64_t id = 0;
  bool asks_here = false;  // a call on this node: loops know the token here
  completion sent;
  bool requested = false;  // written by the callback; read after the callback has ended
  std::optional<std::stop_callback<on_stop>> watch;
};

stop_forwarding::stop_forwarding(const std::stop_token& token, const loop_shares& all)
    : state_(std::make_unique<state>(token, all.row(), false)) {}

stop_forwarding::stop_forwarding(const std::stop_token& token, std::uint32_t node)
    : state_(std::make_unique<state>(token, node_row{.first = node, .count = 1, .wrap = node + 1}, true)) {}

stop_forwarding::stop_forwarding(const std::stop_token& token)
    : state_(std::make_unique<state>(token, all_nodes_row(), false)) {}

stop_forwarding::~stop_forwarding() {
  state& s = *state_;
  s.watch.reset();  // waits for a callback that is running on another thread
  if (!s.asked.stop_requested()) return;
  if (s.requested) {  // else the callback was taken back in time; but tasks of a group may have carried the request
    s.sent.add();
    s.sent.wait();
  }
  // Requests may have come after the end of a share.
  if (s.asks_here) stops_of(this_port()).forget({s.here, s.id});
  s.tell(receiver_of<receive_forget>(), callee_of<forget_loop_here>());
}

std::uint64_t stop_forwarding::id() const noexcept { return state_->id; }

share_stop::share_stop(std::uint32_t from, std::uint64_t id)
    : scope(stops_of(this_port()).enter({from, id})), from_(from), id_(id) {}

share_stop::~share_stop() { stops_of(this_port()).leave({from_, id_}); }

}  // namespace shoal::detail
