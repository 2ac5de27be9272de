// SPDX-License-Identifier: Apache-2.0
// The settings of injected noise (noise/injection.hpp), and its part of a pool of workers: an injector for each, and at
// the end a line that says what was injected.
// Who may call: one thread, before the pool. Test: tests/unit/tools/injection_test.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/settings.hpp"
#include "noise/injection.hpp"

namespace shoal::runtime {

extern const base::setting_table k_injection_settings;
/// nullptr: none is wanted. Throws shoal::error for a setting that cannot be read.
std::shared_ptr<const noise::injection_plan> read_injection(const base::settings& s);

/// For sched::pool_options::around_thread.
std::function<std::shared_ptr<void>(unsigned worker)> around_injected_threads(
    std::shared_ptr<const noise::injection_plan> plan, std::uint32_t node, machine::executor& by);

}  // namespace shoal::runtime
