// SPDX-License-Identifier: Apache-2.0
#include "launch/world.hpp"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <string_view>

#include "base/clock.hpp"
#include "launch/start_errors.hpp"
#include "machine/futex.hpp"
#include "machine/process.hpp"
#include "shoal/detail/assert.hpp"
#include "shoal/error.hpp"

namespace shoal::launch {
namespace {

// FNV-1a: the same in every process, which std::hash does not promise.
std::uint64_t hash(std::string_view text) noexcept {
  std::uint64_t h = 0xcbf29ce484222325;
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return h;
}

}  // namespace

struct world::header {
  std::atomic<std::uint32_t> changes;  // a futex: moves with every change of a node's state
  std::atomic<std::uint32_t> lost;
  std::atomic<std::uint32_t> interrupted;
  std::array<node_record, k_most_nodes> nodes;
};

world::header& world::head() noexcept {
  static_assert(sizeof(header) <= k_world_header_bytes);
  return *reinterpret_cast<header*>(memory_);
}

node_record& world::at(std::uint32_t node) noexcept { return head().nodes[node]; }
const std::atomic<std::uint32_t>& world::lost() noexcept { return head().lost; }
std::atomic<std::uint32_t>& world::interrupted() noexcept { return head().interrupted; }

void world::join(const identity& me, std::int64_t timeout_ns) {
  SHOAL_ASSERT(me.nodes <= k_most_nodes, "a machine has at most 256 nodes of a job");
  node_record& mine = at(me.node);
  auto before = node_state::absent;
  if (!mine.state.compare_exchange_strong(before, node_state::joining, std::memory_order_acq_rel))
    throw error(errc::mismatch, started_already(me.node));
  mine.pid = machine::own_pid();
  mine.code_fingerprint = hash(me.code);
  mine.settings_fingerprint = hash(me.settings);
  me.settings.copy(mine.settings, sizeof mine.settings - 1);
  mine.state.store(node_state::joined, std::memory_order_release);
  head().changes.fetch_add(1, std::memory_order_release);
  machine::futex_wake(head().changes, static_cast<int>(me.nodes), true);

  const std::uint64_t deadline_ns = base::now_ns() + static_cast<std::uint64_t>(timeout_ns);
  for (std::uint32_t n = 0; n < me.nodes; ++n) {
    for (;;) {
      const std::uint32_t seen = head().changes.load(std::memory_order_acquire);
      const node_state state = at(n).state.load(std::memory_order_acquire);
      if (state != node_state::absent && state != node_state::joining) break;
      if (lost().load(std::memory_order_acquire) != 0)
        throw error(errc::peer_lost, fmt::format("node {} ended before the job began", lost().load() - 1));
      const std::uint64_t now = base::now_ns();
      if (now >= deadline_ns) throw error(errc::timeout, not_started({n}, timeout_ns));
      machine::futex_wait(head().changes, seen, static_cast<std::int64_t>(deadline_ns - now), true);
    }
    if (at(n).code_fingerprint != mine.code_fingerprint) throw error(errc::mismatch, code_mismatch(n, me.node));
    if (at(n).settings_fingerprint != mine.settings_fingerprint)
      throw error(errc::mismatch, other_settings(n, at(n).settings, me.node, mine.settings));
  }
}

bool world::announce_lost(std::uint32_t node) noexcept {
  std::uint32_t nobody = 0;
  if (!head().lost.compare_exchange_strong(nobody, node + 1, std::memory_order_acq_rel)) return false;
  head().changes.fetch_add(1, std::memory_order_release);
  machine::futex_wake(head().changes, static_cast<int>(k_most_nodes), true);
  return true;
}

void world::leave(std::uint32_t node) noexcept {
  at(node).state.store(node_state::left, std::memory_order_release);
  head().changes.fetch_add(1, std::memory_order_release);
}

}  // namespace shoal::launch
