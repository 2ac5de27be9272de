// SPDX-License-Identifier: Apache-2.0
// The settings of the simulated machine, and the options that are read from them.
// Who may call: one thread, at start. Throws shoal::error for costs or faults that are wrong.
// Shown by tests/unit/net/sim_settings_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/settings.hpp"
#include "net/transports/sim/costs.hpp"
#include "net/transports/sim/faults.hpp"
#include "net/transports/sim/network.hpp"

namespace shoal::net {

extern const base::setting_table k_sim_settings;

struct sim_options {
  sim_network_shape network;
  sim_costs costs;
  double measured_factor = 0;  // 0: by the table
  double jitter = 0;
  sim_fault_plan faults;
  std::uint64_t seed = 1;
  std::size_t stack_bytes = 0;
};
sim_options read_sim_options(const base::settings& s);

}  // namespace shoal::net
