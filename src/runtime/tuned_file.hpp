// SPDX-License-Identifier: Apache-2.0
// The settings that `shoal tune --save` keeps for this machine: a file of the form of shoal.toml in the user's folder of
// configurations, one for each machine's name. They have the lowest precedence above defaults. The variable SHOAL_TUNED
// names another file; an empty one turns them off.
// Who may call: one thread, at start and in tools. Errors: shoal::error names the file. Test:
// tests/unit/runtime/tuned_file_test.cpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace shoal::runtime {

/// Its path, whether it exists or not; empty: there is no place for it, or it is turned off.
std::string tuned_file();

/// Names and values, as they are written in shoal.toml: these replace those of the same names in the file, the others
/// stay. `remark` is written above them, a line.
void save_tuned(const std::string& path, const std::vector<std::pair<std::string, std::string>>& settings,
                const std::string& remark);

}  // namespace shoal::runtime
