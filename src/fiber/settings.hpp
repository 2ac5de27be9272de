// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that are read from them.
// Who may call: one thread, at start. Shown by tests/unit/fiber/settings_test.cpp.
#pragma once

#include <cstddef>

#include "base/settings.hpp"

namespace shoal::fiber {

extern const base::setting_table k_fiber_settings;

struct options {
  std::size_t stack_bytes = 0;
  std::size_t most_stacks = 0;
};
options read_options(const base::settings& s);

}  // namespace shoal::fiber
