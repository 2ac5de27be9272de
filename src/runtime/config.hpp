// SPDX-License-Identifier: Apache-2.0
// The configuration of a job: the settings of all folders joined, and the options that each folder reads from its own.
// Who may call: one thread, at start. Shown by tests/unit/runtime/config_test.cpp, tests/cluster/settings_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "array/settings.hpp"
#include "base/log.hpp"
#include "base/settings.hpp"
#include "collectives/settings.hpp"
#include "fiber/settings.hpp"
#include "launch/settings.hpp"
#include "machine/executor.hpp"
#include "net/settings.hpp"
#include "noise/injection.hpp"
#include "remote/settings.hpp"
#include "runtime/profile_report.hpp"
#include "sched/settings.hpp"

namespace shoal::runtime {

/// A base per folder: a function of that folder takes a config as its own options.
struct config : fiber::options,
                sched::options,
                launch::options,
                net::options,
                remote::options,
                array::options,
                collectives::options {
  std::uint32_t nodes = 1;  // transport inproc only; under a launcher the launcher decides
  unsigned workers = 0;     // per node; 0: chosen
  bool direct = true;       // nodes of a machine map each other's memory
  bool pin = true;
  bool restart = false;                   // programs go on from their checkpoints
  std::int64_t hang_ns = 10'000'000'000;  // until a report of what cannot go on by itself; 0: none
  base::log_level log = base::log_level::say;
  profile_wish profiling;
  std::shared_ptr<const noise::injection_plan> injection;  // nullptr: none
  machine::executor* executor = &machine::threads();       // no setting: chosen by code
  net::route_plan plan{};                                  // chosen by choose_routes(), when workers are known

  /// The settings that all nodes of a job must have in common, as text.
  std::string common() const;
};

/// All settings there are, with the values from the environment and files; nothing is checked yet.
base::settings all_settings();
/// Also throws for values that settings::check() cannot judge.
config read_config(const base::settings& s);
/// The options of a pool of workers, without their places.
sched::pool_options scheduler_options(const config& c, std::uint32_t node = 0);

}  // namespace shoal::runtime
