// SPDX-License-Identifier: Apache-2.0
#include "base/log.hpp"
#include "launch/control.hpp"
#include "launch/hub_service.hpp"

namespace shoal::launch {

hub::hub(const hub_options& options) : service_(std::make_unique<service>(options)) {}
hub::~hub() = default;

const hub_place& hub::place() const noexcept { return service_->place(); }
int hub::descriptor() const noexcept { return service_->descriptor(); }
std::optional<loss> hub::lost() const { return service_->lost(); }
presence hub::at(std::uint32_t node) const { return service_->at(node); }
std::string hub::describe(std::uint32_t node) const { return service_->describe(node); }

void hub::interrupt(int signal) noexcept {
  try {
    service_->interrupt(signal);
  } catch (const std::exception& e) {
    base::warn("the nodes cannot be told to stop ({})", e.what());
  }
}

bool hub::announce_lost(std::uint32_t node, std::string_view why) noexcept {
  try {
    return service_->announce_lost(node, why);
  } catch (const std::exception& e) {
    base::warn("the nodes cannot be told of a loss ({})", e.what());
    return false;
  }
}

}  // namespace shoal::launch
