// SPDX-License-Identifier: Apache-2.0
// What `shoal fmm` prints and draws: where the time of the workers goes, in four parts, and how many work over time.
// Who may call: anyone. Test: tests/unit/tools/fmm_test.cpp.
#pragma once

#include <string>
#include <vector>

#include "shoal/profile_result.hpp"

namespace shoal::tools {

struct fmm_row {
  std::string form;
  unsigned workers = 1;
  profile measured;  // with serial_seconds
};

/// `serial_seconds`: of one cell after the other, without tasks.
std::string fmm_table(const std::vector<fmm_row>& rows, double serial_seconds);
/// SVG.
std::string fmm_picture(const std::vector<fmm_row>& rows, double serial_seconds);

}  // namespace shoal::tools
