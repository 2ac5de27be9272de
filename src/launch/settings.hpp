// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, the options that are read from them, and the variables that launchers set.
// Who may call: one thread, at start. Shown by tests/unit/launch/settings_test.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/settings.hpp"

namespace shoal::launch {

extern const base::setting_table k_launch_settings;
/// SHOAL_ variables that are no settings: launchers set them for the processes that they start.
extern const std::array<std::string_view, 4> k_launcher_variables;

struct options {
  std::int64_t start_timeout_ns = 0;
  std::int64_t silence_ns = 0;  // a node without signs of life for so long is lost; 0: never
  std::string hub_address;      // empty: found by the host's name
};
options read_options(const base::settings& s);

}  // namespace shoal::launch
