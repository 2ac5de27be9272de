// SPDX-License-Identifier: Apache-2.0
#include "launch/control.hpp"

#include <exception>

#include "base/log.hpp"
#include "launch/control_connection.hpp"

namespace shoal::launch {

control::control(const hub_place& place, const identity& me, std::int64_t timeout_ns)
    : connection_(std::make_unique<connection>(place, me, timeout_ns)) {}
control::~control() = default;

std::vector<std::vector<std::byte>> control::exchange(std::span<const std::byte> mine) {
  return connection_->exchange(mine);
}

void control::leave() noexcept {
  try {
    connection_->leave();
  } catch (const std::exception& e) {
    base::warn("this node cannot say that it leaves ({}); others may take it for lost", e.what());
  }
}

std::optional<loss> control::watch(std::int64_t timeout_ns, int wake_descriptor) noexcept {
  try {
    return connection_->watch(timeout_ns, wake_descriptor);
  } catch (const std::exception& e) {
    return loss{k_no_node, std::string("this node cannot hear of the others any more: ") + e.what(), 0};
  }
}

int control::descriptor() const noexcept { return connection_->descriptor(); }

void control::announce_lost(std::uint32_t node, std::string_view why) noexcept {
  try {
    connection_->announce(frame_type::lost, {node, 0, std::string(why)});
  } catch (const std::exception& e) {
    base::warn("the others cannot be told of a loss ({})", e.what());
  }
}

void control::announce_stop(int signal) noexcept {
  try {
    connection_->announce(frame_type::stop, {k_no_node, static_cast<std::uint32_t>(signal), {}});
  } catch (const std::exception& e) {
    base::warn("the others cannot be told to stop ({})", e.what());
  }
}

std::string control::describe(std::uint32_t node) const { return connection_->describe(node); }

}  // namespace shoal::launch
