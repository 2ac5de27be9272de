// SPDX-License-Identifier: Apache-2.0
// What a plugin that knows a launcher's library offers, as `shoal_rendezvous_plugin`. Who may call: find_rendezvous().
// Shown by tests/unit/launch/rendezvous_test.cpp.
#pragma once

#include <cstdint>
#include <memory>

#include "launch/rendezvous.hpp"

namespace shoal::launch {

struct rendezvous_plugin {
  std::uint32_t interface = 0;  // k_rendezvous_interface
  const char* version = "";     // of Shoal
  /// Throws shoal::error.
  std::unique_ptr<rendezvous> (*open)() = nullptr;
};
inline constexpr std::uint32_t k_rendezvous_interface = 1;
inline constexpr const char* k_rendezvous_plugin_symbol = "shoal_rendezvous_plugin";

}  // namespace shoal::launch
