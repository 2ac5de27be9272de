// SPDX-License-Identifier: Apache-2.0
#include "sched/open_pools.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "machine/one_per_process.hpp"
#include "sched/pool.hpp"

namespace shoal::sched {
namespace {

struct open_pools {
  std::mutex guard;
  std::map<std::uint64_t, pool*> by_number;
};
machine::one_per_process<open_pools> g_open;
std::atomic<std::uint64_t> g_last_number{0};  // goes on in a child made by fork()

}  // namespace

std::uint64_t open_pool(pool& p) {
  const std::uint64_t number = g_last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  open_pools& all = g_open.get();
  const std::lock_guard hold(all.guard);
  all.by_number.emplace(number, &p);
  return number;
}

void close_pool(std::uint64_t number) noexcept {
  open_pools& all = g_open.get();
  const std::lock_guard hold(all.guard);
  all.by_number.erase(number);
}

bool submit_detached(std::uint64_t number, errand& e) noexcept {
  pool* p = nullptr;
  {
    open_pools& all = g_open.get();
    const std::lock_guard hold(all.guard);
    const auto found = all.by_number.find(number);
    if (found == all.by_number.end()) return false;
    p = found->second;
    p->begin_wake_from_outside();  // its end waits for this thread
  }
  const bool accepted = p->begin_detached_from_outside();
  if (accepted) p->submit(e);
  p->end_wake_from_outside();
  return accepted;
}

}  // namespace shoal::sched
