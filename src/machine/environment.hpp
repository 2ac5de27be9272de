// SPDX-License-Identifier: Apache-2.0
// Changes and lists this process's environment. Who may call: set-up, before other threads read it (the C
// library has no lock for it). Never switches tasks. Guarantees: children started from now on see the change.
// Shown by tests/unit/machine/environment_test.cpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal::machine {

void set_variable(const char* name, const std::string& value);
/// "NAME=value" of all variables whose names begin with the prefix.
std::vector<std::string> variables(std::string_view prefix);

}  // namespace shoal::machine
