// SPDX-License-Identifier: Apache-2.0
// What MPI_INFO_ENV says of the start of a program.
// Who may call: any thread.
// Source: MPI 5.0, 11.2.1. Test: tests/conformance/environment.c.
#pragma once

#include <string>
#include <vector>

#include "rank/info.hpp"

namespace shoal::runtime {

/// `command`: the program's name and its arguments. `ranks`: of the job.
rank::info_pairs start_info(const std::vector<std::string>& command, int ranks);

}  // namespace shoal::runtime
