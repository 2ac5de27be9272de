// SPDX-License-Identifier: Apache-2.0
// What a plugin that knows a launcher's library offers, as `shoal_meeting_plugin`. Who may call: find_meeting().
// Shown by tests/unit/launch/meeting_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "launch/meeting.hpp"

namespace shoal::launch {

struct meeting_plugin {
  std::uint32_t interface = 0;  // k_meeting_interface
  const char* version = "";     // of Shoal
  /// Throws shoal::error.
  std::unique_ptr<meeting> (*open)() = nullptr;
};
inline constexpr std::uint32_t k_meeting_interface = 1;
inline constexpr const char* k_meeting_plugin_symbol = "shoal_meeting_plugin";

}  // namespace shoal::launch
