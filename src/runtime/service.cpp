// SPDX-License-Identifier: Apache-2.0
#include "runtime/service.hpp"

#include <algorithm>
#include <utility>

#include "base/exit_status.hpp"
#include "base/log.hpp"
#include "machine/process.hpp"

namespace shoal::runtime {

service::service(machine::executor& by, std::vector<node*> nodes, std::shared_ptr<peer_watch> peers, std::uint32_t me)
    : executor_(by), nodes_(std::move(nodes)), peers_(std::move(peers)), me_(me) {
  for (node* n : nodes_) polls_.emplace_back(n->workers().size());
  runner_ = by.make_runner("shoal-service", *this);
  runner_->start();
  if (nodes_.empty()) return;
  node& first = *nodes_.front();
  watched_job job;
  for (node* n : nodes_) job.pools.push_back(&n->workers());
  job.first_node = first.number();
  job.nodes = first.count();
  job.processes = first.processes();
  job.hang_ns = first.hang_ns();
  job.runs = [&first] { return first.runs_main(); };
  job.memory = [this](std::size_t i) { return nodes_[i]->memory(); };
  job.may_end = [&first] { return first.runs_only_main(); };
  watched_.emplace(std::move(job));
}

service::~service() {
  watched_.reset();
  runner_->stop();
}

std::int64_t service::tick() noexcept {
  const std::uint64_t now_ns = executor_.now_ns();
  if (now_ns >= next_look_ns_) {
    pause_ns_ = look_at_workers() ? k_tick_ns : std::min(pause_ns_ * 2, k_longest_tick_ns);
    next_look_ns_ = now_ns + static_cast<std::uint64_t>(pause_ns_);
  }
  if (peers_ != nullptr)
    if (const auto lost = peers_->look()) leave(*lost);
  return static_cast<std::int64_t>(next_look_ns_ - now_ns);
}

std::span<const int> service::descriptors() noexcept {
  if (peers_ == nullptr) return {};
  return peers_->descriptors();
}

void service::leave(const launch::loss& lost) noexcept {
  if (is_ending_for_hang()) machine::exit_now(base::k_job_failed_status);  // node 0 has said why
  // Told to stop, like the other: its end is no fault. Ours comes by the same signal, unless we are faster.
  if (lost.signal != 0) machine::exit_now(128 + lost.signal);
  base::set_log_context({.level = base::current_log_context().level, .node = static_cast<int>(me_)});
  const bool knows = lost.node != launch::k_no_node && !nodes_.empty();
  const std::string outstanding = knows ? nodes_.front()->outstanding(lost.node) : "";
  base::say("{}; this node leaves{}{}", lost.why, outstanding.empty() ? "" : ", with ", outstanding);
  machine::exit_now(base::k_job_failed_status);
}

// True if any worker was awake.
bool service::look_at_workers() noexcept {
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
