// SPDX-License-Identifier: Apache-2.0
// The files of GMT's named arrays, by the layer of files (gmt/names.hpp). Who may call: main(), before the job.
// Errors: shoal::error where the folder cannot be made. Shown by tests/cluster/gmt_test.cpp.
#pragma once

#include <string>

namespace shoal::runtime {

/// Makes the folder if it is missing. All nodes see it.
void keep_gmt_arrays_in(const std::string& folder);

}  // namespace shoal::runtime
