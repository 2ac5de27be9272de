// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that are read from them.
// Who may call: one thread, at start. Shown by tests/unit/fiber/settings_test.cpp.
#pragma once

#include <cstddef>

#include "base/settings.hpp"
#include "machine/page_choice.hpp"

namespace shoal::fiber {

extern const base::setting_table k_fiber_settings;

struct options {
  std::size_t stack_bytes = 0;
  std::size_t most_stacks = 0;
  machine::page_choice stack_pages = machine::page_choice::small;
};
options read_options(const base::settings& s);

}  // namespace shoal::fiber
