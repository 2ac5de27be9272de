// SPDX-License-Identifier: Apache-2.0
#include "runtime/debug_marks.hpp"

// What keeps the calls, and the functions apart.
[[gnu::noinline, gnu::noclone]] void shoal_debug_stop(const char* why) noexcept {
  asm volatile("# stop" : : "r"(why) : "memory");
}
[[gnu::noinline, gnu::noclone]] void shoal_debug_loaded() noexcept { asm volatile("# loaded" : : : "memory"); }
