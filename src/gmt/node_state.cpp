// SPDX-License-Identifier: Apache-2.0
#include "gmt/node_state.hpp"

#include <memory>

#include "sched/pool.hpp"
#include "sched/worker.hpp"
#include "shoal/detail/tsan_ignore.hpp"

namespace shoal::gmt {

node_state::node_state(std::uint32_t node, std::uint32_t nodes, unsigned workers)
    : handles(node, nodes),
      timing_since_ns(sched::this_worker()->owner().executor().now_ns()),
      workers_(workers),
      seed_(mix64(node + 1)) {}

node_state& node_state::make() {
  detail::port& p = detail::this_port();
  auto made = std::make_unique<node_state>(p.node, p.nodes, detail::t_worker->siblings);
  detail::node_extension* known = nullptr;
  if (!p.context->above.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
    return static_cast<node_state&>(*known);
  return *made.release();
}

std::uint64_t node_state::total(event e) const noexcept {
  std::uint64_t sum = 0;
  for (const worker_state& w : workers_) sum += w.counts[static_cast<std::size_t>(e)].load(std::memory_order_relaxed);
  return sum;
}

std::uint64_t node_state::random() {
  const detail::tsan_ignore_scope of_this_worker;
  worker_state& w = worker();
  if (const std::uint64_t number = seed_number_.load(std::memory_order_acquire); w.seeded != number) [[unlikely]] {
    w.random = xoshiro256ss(seed_.load(std::memory_order_relaxed), detail::t_worker->index);
    w.seeded = number;
  }
  return w.random();
}

void node_state::seed(std::uint64_t value) noexcept {
  seed_.store(value, std::memory_order_relaxed);
  seed_number_.fetch_add(1, std::memory_order_release);  // partner: random()
}

}  // namespace shoal::gmt
