// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <algorithm>
#include <utility>

#include "machine/futex.hpp"

namespace shoal::runtime {

service::service(std::vector<node*> nodes) : nodes_(std::move(nodes)) {
  for (node* n : nodes_) polls_.emplace_back(n->workers().size());
  thread_ = std::thread([this] { watch(); });
}

service::~service() {
  stopping_.store(1, std::memory_order_release);
  machine::futex_wake(stopping_, 1, false);
  thread_.join();
}

void service::watch() noexcept {
  std::int64_t pause_ns = k_tick_ns;
  while (stopping_.load(std::memory_order_acquire) == 0) {
    pause_ns = tick() ? k_tick_ns : std::min(pause_ns * 2, k_longest_tick_ns);
    machine::futex_wait(stopping_, 0, pause_ns, false);
  }
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
      nodes_[i]->ports().at(w).attention.store(true, std::memory_order_relaxed);
    }
    if (busy) pool.wake_one(nullptr);
  }
  return awake;
}

}  // namespace shoal::runtime
