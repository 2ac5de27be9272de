// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that they fill.
// Who may call: one thread, at start. Shown by tests/unit/array/settings_test.cpp.
#pragma once

#include <cstdint>

#include "base/settings.hpp"
#include "machine/page_choice.hpp"

namespace shoal::array {

extern const base::setting_table k_array_settings;

struct options {
  std::uint64_t segment_bytes = 0;  // 0: chosen by the runtime
  machine::page_choice pages = machine::page_choice::huge_try;
};
options read_options(const base::settings& s);

}  // namespace shoal::array
