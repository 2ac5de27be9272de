// SPDX-License-Identifier: Apache-2.0
// What GMT's C interface keeps for a node: handles, names, generators of random numbers, counters.
// Who may call: tasks of the node. here() does not switch tasks; O(1), no lock but at the first call.
// Guarantees: one object per node, destroyed with it; what is per worker is touched by that worker alone.
// Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "gmt/handles.hpp"
#include "gmt/names.hpp"
#include "shoal/detail/port.hpp"
#include "shoal/random.hpp"

namespace shoal::gmt {

enum class event : std::uint8_t { task, loop, call, handle, array, raw_access, count };
inline constexpr std::size_t k_events = static_cast<std::size_t>(event::count);

struct alignas(64) worker_state {
  xoshiro256ss random{0};
  std::uint64_t seeded = 0;             // the number of the seed that `random` has
  std::vector<std::uint32_t> free_ids;  // of tasks that have ended
  std::uint32_t next_id = 0;
  std::int64_t nobody = 0;                                    // where results go that nobody wants
  std::array<std::atomic<std::uint64_t>, k_events> counts{};  // partner: whoever prints them
};

class node_state final : public detail::node_extension {
public:
  node_state(std::uint32_t node, std::uint32_t nodes, unsigned workers);

  /// Of the calling task's node.
  static node_state& here() {
    detail::node_extension* const made =
        detail::port_here().context->above.load(std::memory_order_acquire);  // partner: make()
    return made != nullptr ? static_cast<node_state&>(*made) : make();
  }

  worker_state& worker() noexcept { return workers_[detail::t_worker->index]; }
  void count(event e, std::uint64_t n = 1) noexcept {
    auto& c = worker().counts[static_cast<std::size_t>(e)];
    c.store(c.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);  // one writer
  }
  std::uint64_t total(event e) const noexcept;

  std::uint64_t random();
  void seed(std::uint64_t value) noexcept;

  handle_table handles;
  name_table names;  // used on node 0
  // Of gmt_profile and gmt_timing. Partners: tasks that print and reset.
  std::array<std::atomic<std::uint64_t>, k_events> profile_base{};
  std::array<std::atomic<std::uint64_t>, k_events> timing_base{};
  std::atomic<std::uint64_t> timing_since_ns;

private:
  static node_state& make();

  std::vector<worker_state> workers_;
  std::atomic<std::uint64_t> seed_{0};  // partners: seed(), random() of other workers
  std::atomic<std::uint64_t> seed_number_{1};
};

inline void count(event e, std::uint64_t n = 1) { node_state::here().count(e, n); }

}  // namespace shoal::gmt
