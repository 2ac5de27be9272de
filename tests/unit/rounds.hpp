// SPDX-License-Identifier: Apache-2.0
// How often, and on how much, tests do the same thing.
#pragma once

#include "fiber/sanitizer.hpp"

namespace shoal {

#if SHOAL_TSAN
inline constexpr bool k_tsan = true;
#else
inline constexpr bool k_tsan = false;
#endif

/// `all`, but `fewer` with the thread sanitizer, which makes programs much slower. It looks for accesses
/// that nothing orders, and often finds them whatever order a run happened to have: repetitions show it little, and
/// what one thread computes alone, nothing. Results are compared for all rounds and sizes in the other builds.
template <class T>
constexpr T rounds(T all, T fewer) {
  return k_tsan ? fewer : all;
}

}  // namespace shoal
