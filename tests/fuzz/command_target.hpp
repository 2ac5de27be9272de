// SPDX-License-Identifier: Apache-2.0
// The registered function that the seeds of the commands call.
#pragma once

#include <cstdint>

#include "shoal/detail/message.hpp"

namespace shoal::fuzz {

inline volatile std::uint64_t g_sum = 0;

inline void add_up(const detail::arrival& a) noexcept {
  for (const std::uint64_t word : a.payload) g_sum = g_sum + word;
}

}  // namespace shoal::fuzz
