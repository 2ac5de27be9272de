// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that they fill.
// Who may call: one thread, at start. Shown by tests/unit/collectives/algorithm_table_test.cpp.
#pragma once

#include "base/settings.hpp"
#include "collectives/algorithm_table.hpp"

namespace shoal::collectives {

extern const base::setting_table k_collectives_settings;

struct options {
  algorithm_table algorithms;
};
/// Throws errc::invalid_argument for rows that cannot be.
options read_options(const base::settings& s);

}  // namespace shoal::collectives
