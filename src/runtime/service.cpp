// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.hpp"

namespace shoal::runtime {

service::service(std::vector<node*> nodes, std::shared_ptr<peer_watch> peers, std::uint32_t me)
    : nodes_(std::move(nodes)), peers_(std::move(peers)), me_(me) {
  for (node* n : nodes_) polls_.emplace_back(n->workers().size());
  thread_ = std::thread([this] { watch(); });
}

service::~service() {
  stopping_.store(true, std::memory_order_release);
  stop_.wake();
  thread_.join();
}

void service::watch() noexcept {
  std::int64_t pause_ns = k_tick_ns;
  while (!stopping_.load(std::memory_order_acquire)) {
    pause_ns = tick() ? k_tick_ns : std::min(pause_ns * 2, k_longest_tick_ns);
    if (peers_ == nullptr) {
      machine::wait_any(std::array{stop_.descriptor()}, pause_ns);
    } else if (const auto lost = peers_->wait(pause_ns, stop_.descriptor())) {
      leave(*lost);
    }
  }
}

void service::leave(const launch::loss& lost) noexcept {
  // Told to stop, like the other: its end is no fault. Ours comes by the same signal, unless we are faster.
  if (lost.signal != 0) machine::exit_now(128 + lost.signal);
  base::set_log_context({.level = base::current_log_context().level, .node = static_cast<int>(me_)});
  const std::string outstanding = lost.node != launch::k_no_node ? nodes_.front()->outstanding(lost.node) : "";
  base::say("{}; this node leaves{}{}", lost.why, outstanding.empty() ? "" : ", with ", outstanding);
  machine::exit_now(k_lost_status);
}

// True if any worker was awake.
bool service::tick() noexcept {
  bool awake = false;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    sched::pool& pool = nodes_[i]->workers();
    bool busy = false;
    for (unsigned w = 0; w < pool.size(); ++w) {
      const std::uint64_t polls = pool.at(w).polls.load(std::memory_order_relaxed);
      const bool moved = std::exchange(polls_[i][w], polls) != polls;
      if (pool.at(w).parked()) continue;
      awake = true;
      busy |= !moved;
      nodes_[i]->ports().at(w).unusual.fetch_or(detail::k_attention, std::memory_order_relaxed);
    }
    if (busy) pool.wake_one(nullptr);
  }
  return awake;
}

}  // namespace shoal::runtime
