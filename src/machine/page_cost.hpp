// SPDX-License-Identifier: Apache-2.0
// What a first touch of a page costs on this machine, measured when asked. Who may call: any thread, in tools; takes a
// few milliseconds. Never switches tasks. Throws errc::out_of_memory. Test: tests/unit/machine/page_cost_test.cpp.
#pragma once

#include <cstdint>

namespace shoal::machine {

/// Nanoseconds of one first touch of an ordinary page of private memory: the least of some rounds.
std::uint64_t measure_first_touch_ns();

}  // namespace shoal::machine
