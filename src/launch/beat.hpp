// SPDX-License-Identifier: Apache-2.0
// How often two ends of a connection say that they live, when silence for longer than a limit means that one does not.
// Who may call: anyone. Shown by tests/unit/launch/control_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shoal::launch {

/// Several signs fit into the limit, so that one may be late. Not for a limit of 0 (none).
inline std::int64_t beat_interval_ns(std::int64_t silence_ns) noexcept {
  return std::clamp<std::int64_t>(silence_ns / 5, 1'000'000, 1'000'000'000);
}

}  // namespace shoal::launch
