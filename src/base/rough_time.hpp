// SPDX-License-Identifier: Apache-2.0
// Time for decisions in which a factor of two does not matter: a chunk that should take 4 us, a budget of 25 us. One
// instruction on x86, whose counter is taken to run at 3 GHz; measuring its rate takes milliseconds.
// Who may call: any thread, also on hot paths. Never switches tasks.
#pragma once

#include <cstdint>

#include "base/clock.hpp"

namespace shoal::base {

struct rough_time {
#if defined(__x86_64__)
  static std::uint64_t now() noexcept { return ticks(); }
  static constexpr std::uint64_t k_per_ns = 3;
  static double per_us() noexcept { return ticks_per_us(); }  // measured: not for hot paths
#else
  static std::uint64_t now() noexcept { return now_ns(); }
  static constexpr std::uint64_t k_per_ns = 1;
  static double per_us() noexcept { return 1000; }
#endif
};

}  // namespace shoal::base
