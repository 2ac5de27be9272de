// SPDX-License-Identifier: Apache-2.0
// What would remove how much of the measured noise: settings of the program, the system and the machine, those that
// remove most first.
// Who may call: one thread at a time. Never switches tasks. Test: tests/unit/noise/summary_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "noise/measurement.hpp"

namespace shoal::noise {

struct advice {
  double share = 0;  // of the measured time, that it would remove at most
  std::string text;
};

/// At most `most`; what would remove less than a ten-thousandth of the time is left out.
std::vector<advice> advise(const measurement& m, std::size_t most = 5);

}  // namespace shoal::noise
