// SPDX-License-Identifier: Apache-2.0
#include "runtime/debug_marks.hpp"

// What keeps the calls, and the functions apart. Clang makes no copies of a function for some of its arguments.
#if defined(__clang__)
#define SHOAL_AS_IT_IS [[gnu::noinline]]
#else
#define SHOAL_AS_IT_IS [[gnu::noinline, gnu::noclone]]
#endif

SHOAL_AS_IT_IS void shoal_debug_stop(const char* why) noexcept { asm volatile("" : : "r"(why) : "memory"); }
SHOAL_AS_IT_IS void shoal_debug_loaded() noexcept { asm volatile("" : : : "memory"); }
