// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {

service::service(std::vector<node*> nodes, launch::world* world, std::uint32_t me, std::uint32_t node_count)
    : nodes_(std::move(nodes)), world_(world), me_(me), node_count_(node_count) {
  for (node* n : nodes_) polls_.emplace_back(n->workers().size());
  try {
    if (world_ != nullptr) watch_peers();
    thread_ = std::thread([this] { watch(); });
  } catch (...) {
    close_peers();
    throw;
  }
}

service::~service() {
  stopping_.store(true, std::memory_order_release);
  stop_.wake();
  thread_.join();
  close_peers();
}

void service::watch() noexcept {
  std::int64_t pause_ns = k_tick_ns;
  std::vector<int> descriptors = peers_;
  descriptors.push_back(stop_.descriptor());
  while (!stopping_.load(std::memory_order_acquire)) {
    pause_ns = tick() ? k_tick_ns : std::min(pause_ns * 2, k_longest_tick_ns);
    const int ready = machine::wait_any(descriptors, pause_ns);
    if (world_ == nullptr) continue;
    if (const std::uint32_t lost = world_->lost().load(std::memory_order_acquire); lost != 0) leave(lost - 1);
    if (ready < 0 || ready >= static_cast<int>(peers_.size())) continue;
    const auto peer = static_cast<std::uint32_t>(ready);
    descriptors[peer] = -1;
    if (world_->at(peer).state.load(std::memory_order_acquire) == launch::node_state::left) continue;
    world_->announce_lost(peer);
    leave(world_->lost().load(std::memory_order_acquire) - 1);  // the first, whoever saw it
  }
}

void service::watch_peers() {
  peers_.assign(node_count_, -1);
  for (std::uint32_t n = 0; n < node_count_; ++n) {
    if (n == me_) continue;
    peers_[n] = machine::open_process(world_->at(n).pid);
    if (peers_[n] >= 0) continue;
    const int cause = errno;
    if (cause != ESRCH)
      throw error(errc::system, fmt::format("cannot watch node {} (process {}): {}; check ulimit -n", n,
                                            world_->at(n).pid, std::strerror(cause)));
    if (world_->at(n).state.load(std::memory_order_acquire) != launch::node_state::left) world_->announce_lost(n);
  }
}

void service::close_peers() noexcept {
  for (const int d : peers_) machine::close_descriptor(d);
}

void service::leave(std::uint32_t lost) noexcept {
  // Told to stop, like the other: its end is no fault. Ours comes by the same signal, unless we are faster.
  if (const std::uint32_t signal = world_->interrupted().load(std::memory_order_acquire); signal != 0)
    machine::exit_now(128 + static_cast<int>(signal));
  base::set_log_context({.level = base::current_log_context().level, .node = static_cast<int>(me_)});
  base::say("node {} (process {}) has ended before its time; this node leaves", lost, world_->at(lost).pid);
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
