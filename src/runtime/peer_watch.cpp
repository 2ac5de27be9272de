// SPDX-License-Identifier: Apache-2.0
#include "runtime/peer_watch.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "machine/process.hpp"
#include "shoal/error.hpp"

namespace shoal::runtime {

world_watch::world_watch(launch::world& world, std::uint32_t me, std::uint32_t nodes)
    : world_(world), me_(me), nodes_(nodes) {
  try {
    open_peers();
  } catch (...) {
    close_peers();
    throw;
  }
}

world_watch::~world_watch() { close_peers(); }

void world_watch::open_peers() {
  watched_.assign(nodes_, -1);
  for (std::uint32_t n = 0; n < nodes_; ++n) {
    if (n == me_) continue;
    watched_[n] = machine::open_process(world_.at(n).pid);
    if (watched_[n] >= 0) continue;
    const int cause = errno;
    if (cause != ESRCH)
      throw error(errc::system, fmt::format("cannot watch node {} (process {}): {}; check ulimit -n", n,
                                            world_.at(n).pid, std::strerror(cause)));
    if (world_.at(n).state.load(std::memory_order_acquire) != launch::node_state::left) world_.announce_lost(n);
  }
}

void world_watch::close_peers() noexcept {
  for (const int d : watched_) machine::close_descriptor(d);
}

launch::loss world_watch::loss_of(std::uint32_t node) noexcept {
  return {node, fmt::format("node {} (process {}) has ended before its time", node, world_.at(node).pid),
          static_cast<int>(world_.interrupted().load(std::memory_order_acquire))};
}

std::optional<launch::loss> world_watch::look() noexcept {
  const int ready = machine::wait_any(watched_, 0);
  if (const std::uint32_t lost = world_.lost().load(std::memory_order_acquire); lost != 0) return loss_of(lost - 1);
  if (ready < 0) return std::nullopt;
  const auto peer = static_cast<std::uint32_t>(ready);
  machine::close_descriptor(std::exchange(watched_[peer], -1));
  if (world_.at(peer).state.load(std::memory_order_acquire) == launch::node_state::left) return std::nullopt;
  world_.announce_lost(peer);
  return loss_of(world_.lost().load(std::memory_order_acquire) - 1);  // the first loss, on any node
}

std::optional<launch::loss> control_watch::look() noexcept {
  {
    const std::lock_guard guard(mutex_);
    for (const auto& [node, why] : unreachable_) control_.announce_lost(node, why);
    unreachable_.clear();
  }
  return control_.watch(0, -1);
}

std::span<const int> control_watch::descriptors() noexcept {
  hub_ = control_.descriptor();
  return {&hub_, 1};
}

void control_watch::unreachable(std::uint32_t node, const char* why) noexcept {
  const std::lock_guard guard(mutex_);
  unreachable_.emplace_back(node, why);
}

}  // namespace shoal::runtime
