// SPDX-License-Identifier: Apache-2.0
// The settings of this folder, and the options that are read from them.
// Who may call: one thread, at start. Shown by tests/unit/sched/settings_test.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/settings.hpp"
#include "fiber/settings.hpp"
#include "sched/pool.hpp"

namespace shoal::sched {

extern const base::setting_table k_sched_settings;

struct options {
  std::size_t waiting_bytes = 0;  // 0: a quarter of the free memory
  std::optional<unsigned> spin;   // none: as fits the program
  std::size_t blocking_threads = 512;
  bool single_threaded_libraries = true;
  bool shares_processors = false;
  steal_policy_factory steal;  // empty: the standard policy
  std::string topology;        // synthetic, for the distances between workers; empty: this machine's
};
/// Throws shoal::error for an unknown victim policy or a malformed topology.
options read_options(const base::settings& s);

/// The options of a pool, without its workers and where they run.
pool_options make_pool_options(const options& o, const fiber::options& stacks);

}  // namespace shoal::sched
